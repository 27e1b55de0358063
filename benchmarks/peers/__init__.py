"""twosample beside what people use today, on the same data, each program in an environment of its own."""
