"""Are two things that were measured together independent: what is read, compared and returned."""

from twosample.questions.independence.independence_result import IndependenceResult, PairEvidence, Scales
from twosample.questions.independence.run import independence

__all__ = ["IndependenceResult", "PairEvidence", "Scales", "independence"]
