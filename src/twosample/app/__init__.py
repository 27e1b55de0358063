"""A page on this computer: drop two files, choose, and read the report (`twosample app`).

`server` answers requests, behind `guard`, which knows who may ask; `sessions` holds the files of each opened page in
memory, `jobs` runs their tests, and `work` is what they do. `form` puts errors into the words of the page, which is in
`static`.
"""

from twosample.app.server import serve

__all__ = ["serve"]
