"""Kernels by name."""

from __future__ import annotations

import ast

from twosample.errors import InputError, InputTypeError
from twosample.kernels.base import Kernel, known_kernels
from twosample.kernels.plain import RBF, Laplace, Matern, RationalQuadratic

__all__ = ["NAMES", "resolve", "resolve_several"]

#: Kernels that have a name for the command line and for ``kernel=``.
NAMES = {kernel.label: kernel for kernel in (RBF(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5))} | {
    "rational_quadratic": RationalQuadratic()
}


def resolve(kernel: str | Kernel) -> Kernel:
    """The kernel of that name or label, or the kernel itself.

    A label is what results call a kernel, such as "rbf + laplace" or "rational_quadratic(alpha=2)".

    Examples
    --------
    >>> resolve("rbf"), resolve("matern52")
    (RBF(), Matern(nu=2.5))
    >>> resolve("rbf * rational_quadratic(alpha=2)").parts
    (RBF(), RationalQuadratic(alpha=2.0))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        several = "test and log_bf10 average over several" if isinstance(kernel, list | tuple) else None
        raise InputTypeError(
            f"kernel: expected a name or a Kernel, got {type(kernel).__name__}", argument="kernel", remedy=several
        )
    own = {name: kind for name, kind in known_kernels().items() if not kind.__module__.startswith("twosample.kernels.")}
    if kernel in own:
        return own[kernel]()
    try:
        return _of_expression(ast.parse(kernel.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        several = "; gibbs has 'ard'" if kernel == "ard" else ""
        several += "; of objects it is for test" if kernel in ("kmer", "graph") else ""
        raise InputError(
            f"kernel: {kernel!r:.60} is unknown",
            argument="kernel",
            remedy=f"use {' or '.join(map(repr, [*NAMES, *own]))}{several}",
        ) from None


def _of_expression(node: ast.expr) -> Kernel:
    """The kernel of a label, parsed as a Python expression; other expressions raise an error."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _of_expression(node.left), _of_expression(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        constants = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        return Kernel.from_plain({"name": node.func.id, **constants})
    if isinstance(node, ast.Name):
        return NAMES[node.id]
    raise ValueError("no kernel")


def resolve_several(kernel: object) -> tuple[Kernel, ...]:
    """The kernel as a tuple, or several kernels to average over.

    Examples
    --------
    >>> resolve_several(["rbf", Laplace()])
    (RBF(), Laplace())
    """
    if not isinstance(kernel, list | tuple):
        return (resolve(kernel),)  # type: ignore[arg-type]
    found = tuple(map(resolve, kernel))
    if not found or len(set(found)) < len(found):
        why = "one of them is there twice" if found else "there is none to average over"
        raise InputError(f"kernel: {why}", argument="kernel", remedy="give different kernels")
    return found
