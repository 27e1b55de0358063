"""Data of any kind, read and checked: two finite float64 samples with a pooled center and scale."""

from twosample.data.blocks import Blocks
from twosample.data.choosing import DROPPED, Choice, LeftOut, some
from twosample.data.copies import find_copies, row_hashes
from twosample.data.known_columns import located
from twosample.data.limits import Limits
from twosample.data.order import serial_dependence
from twosample.data.parts import are_blocks
from twosample.data.reading import as_rows, check_finite, finite_rows, read
from twosample.data.samples import Samples, read_columns
from twosample.data.views import Ranks, View

__all__ = [
    "DROPPED",
    "Blocks",
    "Choice",
    "LeftOut",
    "Limits",
    "Ranks",
    "Samples",
    "View",
    "are_blocks",
    "as_rows",
    "check_finite",
    "find_copies",
    "finite_rows",
    "located",
    "read",
    "read_columns",
    "row_hashes",
    "serial_dependence",
    "some",
]
