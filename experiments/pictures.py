"""Writes figures as small files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from twosample.common.records import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_png"]


def save_png(figure: Figure, path: Path, *, dpi: int = 110, colors: int = 128) -> None:
    """Write the figure with a palette of so many colours, which takes a third of the space."""
    from PIL import Image

    picture = io.BytesIO()
    figure.savefig(picture, dpi=dpi, format="png", metadata={"Software": None})
    with Image.open(picture) as image:
        # Other methods give up colours that cover little, such as those of a legend.
        palette = image.convert("RGB").quantize(colors, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        write_whole(path, lambda file: palette.save(file, format="png", optimize=True))
