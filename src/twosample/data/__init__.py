"""Data of any kind, read and checked: two finite float64 samples with a pooled center and scale."""

from twosample.data.copies import row_hashes
from twosample.data.reading import as_rows, check_finite
from twosample.data.samples import Samples
from twosample.data.views import Ranks, View

__all__ = ["Ranks", "Samples", "View", "as_rows", "check_finite", "row_hashes"]
