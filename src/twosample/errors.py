"""The errors and warnings of the package: each names the argument, what was wrong and what to do."""

__all__ = [
    "AccuracyWarning",
    "ConvergenceWarning",
    "DownloadError",
    "DroppedDataWarning",
    "DuplicateRowsWarning",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "TwoSampleWarning",
]


class InputError(ValueError):
    """An argument has the right type but an unusable value."""


class InputTypeError(TypeError):
    """An argument has a type that cannot be used."""


class MissingExtraError(ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, caller: str, package: str, extra: str) -> None:
        super().__init__(f"{caller} needs {package}; install it with: pip install 'twosample[{extra}]'")


class DownloadError(OSError):
    """A data file could not be downloaded, or what came is not the file expected."""


class TwoSampleWarning(UserWarning):
    """Base of every warning of the package."""


class DroppedDataWarning(TwoSampleWarning):
    """Rows, columns, pairs or records were left out of the analysis."""


class DuplicateRowsWarning(TwoSampleWarning):
    """Rows are repeated within a sample more often than the values' own coarseness explains."""


class AccuracyWarning(TwoSampleWarning):
    """A numerical result did not reach the accuracy asked for."""


class ConvergenceWarning(TwoSampleWarning):
    """The chains of a sampler disagree, hardly move, or are too short for what was asked of them."""
