"""Who runs the one pass over the rows; engines differ in nothing else."""
