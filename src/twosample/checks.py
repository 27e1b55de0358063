"""Assertions about samples, for tests of data and of programs: with pytest, unittest or alone."""

from __future__ import annotations

from typing import Any

from twosample.common.arguments import share_of
from twosample.errors import InputError
from twosample.questions import two_samples
from twosample.questions.reference import Reference
from twosample.results.rules import Rule
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["assert_same_distribution"]


def assert_same_distribution(
    x: object, y: object = None, prob: float = 0.95, *, fail_if: str | None = None, **options: Any
) -> TwoSampleResult:
    """Fail if the samples are, too probably, from different distributions.

    Parameters
    ----------
    x, y
        The samples, as in `twosample.test`; `x` may be a `Reference`.
    prob
        The largest P(different | data) that passes.
    fail_if
        A rule in place of `prob`, as of ``twosample check``, such as "prob_h1 > 0.95 and auc > 0.55": that they differ,
        and by how much.
    **options
        As in `twosample.test`, or in `Reference.test`.

    Returns
    -------
    TwoSampleResult
        The answer, where it passes.

    Raises
    ------
    AssertionError
        If the samples differ; the message is the reason, and the answer in a few lines.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.checks.assert_same_distribution(rng.normal(size=200), rng.normal(size=200))
    >>> ts.checks.assert_same_distribution(rng.normal(size=200), rng.normal(1.0, 1.0, size=200), prob=0.99)
    Traceback (most recent call last):
    AssertionError: prob_h1 > 0.99 holds: prob_h1 > 0.999999
    Very strong evidence of a medium difference.
      P(different | data)  > 0.9999
      log BF10             +22.14
      AUC of the witness   0.704 (90 % between 0.664 and 0.745)
      difference           mean 0.83 larger in y (90 % interval 0.65 to 1.00)
      lengthscale          4.48 (90 % between 1.97 and 5.97)
      data                 200 and 200 rows, 1 column
      model                adaptive, 40 evaluation points
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    if fail_if is not None and prob != 0.95:
        raise InputError("fail_if: takes the place of prob", argument="fail_if", remedy="give one of them")
    rule = Rule.of(f"prob_h1 > {share_of(prob, 'prob')!r}" if fail_if is None else fail_if)
    rule.check_settings(permutations=options.get("permutations", 0), rope=options.get("rope"))
    result = x.test(y, **options) if isinstance(x, Reference) else two_samples.test(x, y, **options)
    outcome = rule.outcome(result)
    if outcome.holds:
        raise AssertionError(f"{outcome.reason}\n{result.summary()}")
    return result
