"""What is for the paper alone: Algorithm 1, models that take several passes, compared tests, simulators, its data."""
