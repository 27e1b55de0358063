"""What every room needs: arrays, checks of arguments, records and their files, progress, threads and wording."""
