"""A small drawing surface: axes and marks as inline SVG, whose colours are classes of the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from twosample.common.arrays import Array
from twosample.show.numbers import numbers

__all__ = ["Canvas", "Chart"]

# In units of the picture, of which a phone shows about 360 across.
_WIDTH, _HEIGHT = 440.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 14.0, 14.0, 10.0, 38.0
_ROOM_FOR_NUMBERS = 44.0


@dataclass(frozen=True)
class Chart:
    """A picture with what stands around it: a title, a legend, and the table that says the same."""

    title: str
    svg: str  # as markup
    legend: tuple[tuple[str, str], ...]  # the class of a mark and what it stands for
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    note: str = ""  # a sentence below the picture


class Canvas:
    """A picture with two axes, whose ranges are `across` and `up`; all texts are escaped as they are written.

    Readers that do not see it are told the title and what is `said` to be seen in it. The axis across may be
    logarithmic; a `numbered` picture has room for numbers at the left, and a `bare` one no room for axes at all.

    Examples
    --------
    >>> canvas = Canvas("a & b", "rising", (0.0, 1.0), (0.0, 1.0))
    >>> canvas.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "x-line")
    >>> "a &amp; b" in canvas.markup(), "<path" in canvas.markup()
    (True, True)
    """

    def __init__(
        self,
        title: str,
        said: str,
        across: tuple[float, float],
        up: tuple[float, float],
        *,
        log: bool = False,
        numbered: bool = False,
        size: tuple[float, float] = (_WIDTH, _HEIGHT),
        bare: bool = False,
    ) -> None:
        self._log, self._across, self._up = log, across, up
        width, height = size
        left, right, top, bottom = (_LEFT, _RIGHT, _TOP, _BOTTOM) if not bare else (1.0, 1.0, 1.0, 1.0)
        self.left, self.right = left + (_ROOM_FOR_NUMBERS if numbered else 0.0), width - right
        self.top, self.bottom = top, height - bottom
        self._root = ElementTree.Element(
            "svg",
            {"viewBox": f"0 0 {width:g} {height:g}", "role": "img", "aria-label": f"{title}. {said}".strip()},
        )
        if bare:
            self._root.set("class", "small")
        self._add("title", {}, title)
        self._add("desc", {}, said)

    def _add(self, tag: str, attributes: dict[str, str], words: str | None = None) -> None:
        ElementTree.SubElement(self._root, tag, attributes).text = words

    @property
    def up_per_unit(self) -> float:
        """How much of the axis up a unit of the picture is."""
        return (self._up[1] - self._up[0]) / (self.bottom - self.top)

    def at_x(self, values: Array | float) -> Array:
        """Where values of the axis across are in the picture."""
        low, high, seen = (np.log(one) if self._log else one for one in (*self._across, np.asarray(values)))
        return np.asarray(self.left + (seen - low) / (high - low) * (self.right - self.left))

    def at_y(self, values: Array | float) -> Array:
        """Where values of the axis up are in the picture."""
        low, high = self._up
        return np.asarray(self.bottom - (np.asarray(values) - low) / (high - low) * (self.bottom - self.top))

    def line(self, x: Array, y: Array, kind: str) -> None:
        """A line through points."""
        self._add("path", {"class": kind, "d": _path(self.at_x(x), self.at_y(y))})

    def area(self, x: Array, low: Array | float, high: Array, kind: str) -> None:
        """The area between two curves."""
        lower = np.broadcast_to(np.asarray(low, dtype=float), np.shape(high))
        both = np.concatenate([x, x[::-1]]), np.concatenate([high, lower[::-1]])
        self._add("path", {"class": kind, "d": f"{_path(self.at_x(both[0]), self.at_y(both[1]))}Z"})

    def box(self, x: tuple[float, float], y: tuple[float, float], kind: str, opacity: float | None = None) -> None:
        """A rectangle."""
        (left, right), (bottom, top) = self.at_x(np.array(x)).tolist(), self.at_y(np.array(y)).tolist()
        place = {"x": left, "y": top, "width": max(right - left, 0.5), "height": max(bottom - top, 0.0)}
        shade = {} if opacity is None else {"fill-opacity": f"{opacity:.2f}"}
        self._add("rect", {"class": kind, **{name: f"{value:.1f}" for name, value in place.items()}, **shade})

    def boxes(self, corners: Array, kind: str, opacity: float) -> None:
        """Many rectangles (K, 4) of one shade: left, right, low, high."""
        x, y = self.at_x(corners[:, :2]), self.at_y(corners[:, 2:])
        parts = [
            f"M{a:.1f} {low:.1f}H{b:.1f}V{high:.1f}H{a:.1f}Z"
            for (a, b), (low, high) in zip(x.tolist(), y.tolist(), strict=True)
        ]
        self._add("path", {"class": kind, "fill-opacity": f"{opacity:.2f}", "d": "".join(parts)})

    def strokes(self, ends: Array, kind: str) -> None:
        """Many straight lines (K, 4): x and y of the start, x and y of the end."""
        x, y = self.at_x(ends[:, [0, 2]]), self.at_y(ends[:, [1, 3]])
        parts = [f"M{a:.1f} {c:.1f}L{b:.1f} {d:.1f}" for (a, b), (c, d) in zip(x.tolist(), y.tolist(), strict=True)]
        self._add("path", {"class": kind, "d": "".join(parts)})

    def dots(self, x: Array, y: Array, radius: Array, kind: str, aside: float = 0.0) -> None:
        """Round marks of these radii, moved aside by so much of the picture, as one path."""
        parts = [
            f"M{a + aside - r:.1f} {b:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
            for a, b, r in zip(self.at_x(x).tolist(), self.at_y(y).tolist(), radius.tolist(), strict=True)
        ]
        self._add("path", {"class": kind, "d": "".join(parts)})

    def text(self, x: float, y: float, words: str, kind: str = "label", anchor: str = "middle") -> None:
        """Words at a place of the picture, not of the axes."""
        self._add("text", {"class": kind, "x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, words)

    def across(self, label: str, places: list[float], words: list[str] | None = None) -> None:
        """The axis across: its line, its ticks and what it is."""
        ends = f"M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"
        self._add("path", {"class": "axis", "d": ends})
        for value, text in zip(places, words or numbers(places), strict=True):
            x = float(self.at_x(value))
            if self.left - 0.5 <= x <= self.right + 0.5:
                self._add("path", {"class": "axis", "d": f"M{x:.1f} {self.bottom:.1f}v4"})
                self.text(min(max(x, self.left + 2.0), self.right - 2.0), self.bottom + 16.0, text)
        self.text(0.5 * (self.left + self.right), self.bottom + 33.0, label, "label strong")

    def up(self, places: list[float], words: list[str] | None = None) -> None:
        """Numbers and faint lines of the axis up."""
        for value, text in zip(places, words or numbers(places), strict=True):
            y = float(self.at_y(value))
            if self.top - 0.5 <= y <= self.bottom + 0.5:
                self._add("path", {"class": "grid", "d": f"M{self.left:.1f} {y:.1f}H{self.right:.1f}"})
                self.text(self.left - 6.0, y + 4.0, text, anchor="end")

    def markup(self) -> str:
        """The picture as text."""
        return ElementTree.tostring(self._root, encoding="unicode")


def _path(x: Array, y: Array) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
