"""Rules such as ``prob_h1 > 0.95 and auc > 0.55``: a small language, read by Python's parser and never run."""

from __future__ import annotations

import ast
import difflib
import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from twosample.errors import InputError, InputTypeError, Setting

if TYPE_CHECKING:
    from twosample.results.comparison import Comparison

__all__ = ["NAMES", "Outcome", "Rule"]

# What the names stand for; None where the result does not say.
NAMES: dict[str, Callable[[Comparison], float | None]] = {
    "prob_h1": lambda result: result.prob_h1,
    "prob_h0": lambda result: result.prob_h0,
    "log_bf10": lambda result: result.log_bf10,
    "bf10": lambda result: result.bf10,
    "bf01": lambda result: result.bf01,
    "auc": lambda result: None if result.effect is None else result.effect.auc.mean,
    "auc_low": lambda result: None if result.effect is None else result.effect.auc.interval(0.9)[0],
    "auc_high": lambda result: None if result.effect is None else result.effect.auc.interval(0.9)[1],
    "prob_beyond_rope": lambda result: result.prob_beyond_rope,
    "pvalue": lambda result: result.pvalue,
    "evalue": lambda result: result.evalue,
    "n_x": lambda result: result.n_x,
    "n_y": lambda result: result.n_y,
    "columns_differing": lambda result: (
        None if (table := result.tables().get("by_column")) is None else sum(row[1] > 0.5 for row in table.rows)
    ),
}
_COLUMN = "prob_column"
_NEEDS = {"pvalue": Setting("permutations", 999), "evalue": Setting("permutations", 999)}
_NEEDS["prob_beyond_rope"] = Setting("rope", 0.55)
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = (
    "use numbers, < <= > >= == !=, and, or, not, parentheses and these names: "
    f'{", ".join(NAMES)}, {_COLUMN}["name of a column"]'
)
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_LONGEST = 1_000


class Outcome(NamedTuple):
    """Whether a rule holds of a result, and why."""

    holds: bool
    reason: str  # one line: the rule, whether it holds, and the numbers
    values: dict[str, float]  # by what the rule calls them


@dataclass(frozen=True, eq=False)
class Rule:
    """A condition on the numbers of a result."""

    text: str  # as it was given, in one line
    _tree: ast.expr

    @classmethod
    def of(cls, text: object) -> Rule:
        """Read a rule; refuse all that is not of the language, and say where it stands."""
        if not isinstance(text, str):
            raise InputTypeError(f"rule: expected text, got {type(text).__name__}", argument="rule")
        line = " ".join(text.split())
        if not line:
            raise InputError("rule: it is empty", argument="rule", remedy='use such as "prob_h1 > 0.95"')
        if len(line) > _LONGEST:
            raise InputError(f"rule: it has more than {_LONGEST} characters", argument="rule")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # of what is refused below
                tree = ast.parse(line, mode="eval").body
        except SyntaxError as error:
            _refuse("it cannot be read", min(error.offset or len(line), len(line)))
        except (ValueError, MemoryError, RecursionError):  # a null character; too deep for the parser
            raise InputError("rule: it cannot be read", argument="rule", remedy=_ALLOWED) from None
        try:
            _check_condition(tree, line)
        except RecursionError:
            raise InputError("rule: it is nested too deeply", argument="rule") from None
        return cls(line, tree)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the rule, in their order, each once."""
        nodes = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name | ast.Subscript)]
        nodes.sort(key=lambda node: (node.lineno, node.col_offset, isinstance(node, ast.Name)))
        keys = (_key(node) for node in nodes if not (isinstance(node, ast.Name) and node.id == _COLUMN))
        return tuple(dict.fromkeys(keys))

    @property
    def _columns(self) -> dict[str, str]:
        """The columns in the rule, by what messages call them."""
        return {_key(node): _column_of(node) for node in ast.walk(self._tree) if isinstance(node, ast.Subscript)}

    def check_settings(self, *, permutations: int, rope: float | None) -> None:
        """Refuse names whose numbers will not be there, before the work."""
        given = {"permutations": bool(permutations), "rope": rope is not None}
        for name in self.names:
            need = _NEEDS.get(name)
            if need is not None and not given[need.name]:
                raise _lacking(name, need)

    def check_columns(self, columns: tuple[str, ...]) -> None:
        """Refuse columns that are not among those."""
        for name in self._columns.values():
            if name not in columns:
                raise InputError(
                    f"rule: there is no column {name!r} among those compared",
                    argument="rule",
                    remedy=_did_you_mean(name, columns) or f"there are {', '.join(map(repr, columns[:8]))}",
                )

    def outcome(self, result: Comparison) -> Outcome:
        """Whether the rule holds of a result."""
        table = result.tables().get("by_column")
        self.check_columns(getattr(result, "columns", ()))
        values = {name: self._value(name, result) for name in self.names if name in NAMES}
        by_column = {} if table is None else {row[0]: row[1] for row in table.rows}
        for name, column in self._columns.items():
            if table is None:
                raise _unsaid(name, result)
            values[name] = by_column[column]
        holds = _evaluated(self._tree, values)
        numbers = ", ".join(f"{name} {_shown(name, values[name])}" for name in self.names)
        does = "holds" if holds else "does not hold"
        return Outcome(holds, f"{self.text} {does}{f': {numbers}' * bool(numbers)}", values)

    def _value(self, name: str, result: Comparison) -> float:
        value = NAMES[name](result)
        if value is not None:
            return value
        raise _lacking(name, _NEEDS[name]) if name in _NEEDS else _unsaid(name, result)


def _shown(name: str, value: float) -> str:
    """A number, but no probability of 1."""
    return "> 0.999999" if name.startswith("prob") and value > 0.999999 else f"= {value:.6g}"


def _lacking(name: str, need: Setting) -> InputError:
    return InputError(f"rule: {name} is not computed without {need.name}", argument="rule", remedy=("pass ", need))


def _unsaid(name: str, result: Comparison) -> InputError:
    return InputError(
        f"rule: model {result.model.name!r} as asked for has no {name}", argument="rule", remedy=f"leave {name} out"
    )


def _refuse(why: str, place: int, remedy: str = _ALLOWED) -> NoReturn:
    raise InputError(f"rule: {why} (character {place})", argument="rule", remedy=remedy) from None


def _did_you_mean(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, 1, 0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def _check_condition(node: ast.AST, line: str) -> None:
    """Refuse what is neither true nor false."""
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                _check_condition(part, line)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            _check_condition(part, line)
        case ast.Compare(left=left, ops=ops, comparators=others):
            for one in ops:
                if type(one) not in _COMPARISONS:
                    _refuse("'is' and 'in' are not of its language", _place(others[0], line))
            for part in (left, *others):
                _check_number(part, line)
        case _:
            _check_number(node, line)
            _refuse(
                "a number by itself is neither true nor false", _place(node, line), "compare it, as in prob_h1 > 0.9"
            )


def _check_number(node: ast.AST, line: str) -> None:
    """Refuse what is not a number or a name of one."""
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant() as part):
            _check_number(part, line)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())) if name == _COLUMN:
            return
        case ast.Name(id=name) if name in NAMES:
            return
        case ast.Name(id=name) if name == _COLUMN:
            _refuse(f"{name} needs a column", _place(node, line), f'use such as {name}["dose"]')
        case ast.Name(id=name):
            remedy = _did_you_mean(name, (*NAMES, _COLUMN)) or _ALLOWED
            _refuse(f"{name!r} is not a name that rules know", _place(node, line), remedy)
        case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            _refuse("a condition cannot be compared with a number", _place(node, line))
        case _:
            kind = _KINDS.get(type(node), "this")
            _refuse(f"{kind} is not of its language", _place(node, line))


_KINDS: dict[type[ast.AST], str] = {
    ast.Call: "a call of a function",
    ast.Attribute: "an attribute",
    ast.Constant: "a text or other value",
    ast.JoinedStr: "a text",
    ast.Subscript: "an index",
    ast.BinOp: "arithmetic",
    ast.Lambda: "a function",
    ast.NamedExpr: "an assignment",
}


def _place(node: Any, line: str) -> int:
    """Where it stands, in characters from 1; the parser counts bytes."""
    return len(line.encode()[: node.col_offset].decode(errors="ignore")) + 1


def _column_of(node: ast.Subscript) -> str:
    assert isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return node.slice.value


def _key(node: ast.expr) -> str:
    """What a name or column is called in messages."""
    if isinstance(node, ast.Name):
        return node.id
    assert isinstance(node, ast.Subscript)
    return f"{_COLUMN}[{_column_of(node)!r}]"


def _evaluated(node: ast.expr, values: dict[str, float]) -> Any:
    """Whether a condition that was checked is true, or the value of a number in it."""
    match node:
        case ast.BoolOp(op=op, values=parts):
            each = (_evaluated(part, values) for part in parts)
            return all(each) if isinstance(op, ast.And) else any(each)
        case ast.UnaryOp(op=op, operand=part):
            return _UNARY[type(op)](_evaluated(part, values))
        case ast.Compare(left=left, ops=ops, comparators=others):
            numbers = [_evaluated(part, values) for part in (left, *others)]
            compared = zip(ops, numbers[:-1], numbers[1:], strict=True)
            return all(_COMPARISONS[type(one)](first, second) for one, first, second in compared)
        case ast.Constant(value=value):
            return value
    return values[_key(node)]
