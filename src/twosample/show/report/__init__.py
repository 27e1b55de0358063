"""A result as a page that can be sent round, as the head of that page for notebooks, and as a paragraph for a paper.

The page is one file: style, pictures, script and the result as JSON are in it, and nothing is fetched. It shows what
the result holds and infers nothing.

>>> import twosample as ts
>>> result = ts.test([4.1, 5.2, 4.7, 5.9, 5.0, 4.4], [6.3, 7.1, 6.9, 7.8, 6.6, 7.3])
>>> render(result).startswith("<!doctype html>")
True
"""

from twosample.show.report.render import head, head_of, paragraph, render, script, style, write

__all__ = ["head", "head_of", "paragraph", "render", "script", "style", "write"]
