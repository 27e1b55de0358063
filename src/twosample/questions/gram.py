"""The test of kernel values that were computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed
from twosample.common.arrays import Array
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.errors import InputError, InputTypeError
from twosample.features.domains.domain import Domain
from twosample.models import Model
from twosample.plan import plan_of_objects
from twosample.questions.objects import answer, samples_of
from twosample.questions.options import Options, recorded
from twosample.results.objects_result import ObjectsResult

__all__ = ["test_gram"]


@own_errors
@recorded
def test_gram(
    K_xz: ArrayLike,
    K_yz: ArrayLike,
    K_zz: ArrayLike,
    *,
    parameters: Sequence[object] | None = None,
    model: str | Model = "adaptive",
    prior_odds: float = 1.0,
    permutations: int = 0,
    rope: float | None = None,
    rng: Seed = 0,
    progress: Progress = False,
) -> ObjectsResult:
    """Test whether two samples come from the same distribution, from kernel values at points.

    For kernels that are computed elsewhere. The points must not depend on which object is in which sample: choose them
    from both together. The scale of the kernel does not matter, but objects whose k(a, a) is larger count for more:
    divide k(a, b) by the roots of k(a, a) and k(b, b) where they should not.

    Parameters
    ----------
    K_xz, K_yz
        Kernel values of the objects of each sample at the s points, (n_x, s) and (n_y, s); or for each of m parameters
        of the kernel, (m, n_x, s) and (m, n_y, s).
    K_zz
        Those between the points, (s, s) or (m, s, s).
    parameters
        What to call the m parameters.
    model, prior_odds, permutations, rope, rng, progress
        As in `test`.

    Returns
    -------
    ObjectsResult
        As from `test` of objects.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y, z = rng.normal(0, 1, (80, 1)), rng.normal(1, 1, (80, 1)), np.linspace(-2, 3, 20)[:, None]
    >>> kernel = lambda a, b: np.exp(-np.abs(a - b.T))
    >>> ts.test_gram(kernel(x, z), kernel(y, z), kernel(z, z)).verdict
    'very strong evidence of a large difference'
    """
    options = Options.checked(locals(), features=np.asarray, parameters=None)
    between = _stack(K_zz, "K_zz")
    x, y = _stack(K_xz, "K_xz", 2), _stack(K_yz, "K_yz", 2)
    m, s = between.shape[:2]
    if between.shape[2] != s:
        raise InputError(f"K_zz: must be square, not {between.shape[1:]}", argument="K_zz")
    for block, name in ((x, "K_xz"), (y, "K_yz")):
        if (len(block), block.shape[2]) != (m, s):
            raise InputError(
                f"{name}: must be of shape {(m, 'n', s) if m > 1 else ('n', s)} like K_zz, not {block.shape}",
                argument=name,
            )
    halves = 0.5 * between
    if not np.allclose(halves, np.swapaxes(halves, 1, 2), rtol=1e-6, atol=1e-9 * np.abs(halves).max()):
        raise InputError("K_zz: must be symmetric, as a kernel is", argument="K_zz")
    numbered = range(1, m + 1) if m > 1 else (None,)
    names = tuple(map(str, numbered if parameters is None else parameters))
    if len(names) != m:
        raise InputError(f"parameters: there are {m} stacks of K_zz, not {len(names)}", argument="parameters")
    domain = Domain.precomputed("precomputed", names, between, _at_points(m, s))
    rows = domain.rows(np.concatenate([x, y], axis=1))
    plan, n_x, n_y = plan_of_objects(domain.checked(rows), options.model), x.shape[1], y.shape[1]
    with progress_bar(progress) as report:
        samples = samples_of(rows[:n_x], rows[n_x:])
        return answer(plan, samples, options, WorkCounter(report, 0), (range(n_x), range(n_y)))


test_gram.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it


def _at_points(m: int, s: int) -> Callable[[object], Array]:
    """Checks kernel values of new objects."""

    def checked(at: object) -> Array:
        values = _stack(at, "at")  # type: ignore[arg-type]
        if (len(values), values.shape[2]) != (m, s):
            raise InputError(
                f"at: expected the kernel values of objects at the {s} points, not an array of shape {values.shape}",
                argument="at",
            )
        return values

    return checked


def _stack(values: ArrayLike, name: str, fewest: int = 1) -> Array:
    """Kernel values as (m, n, s), finite."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name}: expected an array of numbers", argument=name) from None
    stack = array[None] if array.ndim == 2 else array
    if stack.ndim != 3 or 0 in stack.shape or stack.shape[1] < fewest:
        raise InputError(
            f"{name}: expected an array (n, s) or (m, n, s), with n at least {fewest}, not one of shape {array.shape}",
            argument=name,
        )
    if not np.isfinite(stack).all():
        raise InputError(f"{name}: holds values that are missing or infinite", argument=name)
    return stack
