"""Are two things that were measured together independent: what is read, compared and returned."""

from twosample.dependence.result import IndependenceResult, PairEvidence, Scales
from twosample.dependence.run import independence

__all__ = ["IndependenceResult", "PairEvidence", "Scales", "independence"]
