"""Runs the command line: ``python -m twosample``."""

from twosample.cli import main

if __name__ == "__main__":
    main()
