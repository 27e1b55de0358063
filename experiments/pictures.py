"""Writes figures as small files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_png"]


def save_png(figure: Figure, path: Path, *, dpi: int = 110, colors: int = 64) -> None:
    """Write the figure with a palette of few colours, which pictures of few colours do not miss."""
    from PIL import Image

    picture = io.BytesIO()
    figure.savefig(picture, dpi=dpi, format="png", metadata={"Software": None})
    with Image.open(picture) as image:
        image.convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(path, optimize=True)
