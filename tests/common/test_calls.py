"""Calls as text: what is written out, and what stands there by its name."""

import inspect

import numpy as np

from twosample.common.calls import python_call


def asked(x, y=None, *, by=None, points=40, progress=False): ...


def test_plain_values_are_written_out_and_others_are_named():
    def line(*args, **options):
        call = python_call("test", inspect.signature(asked).bind(*args, **options), ending="")
        return call.lines[1], call.objects

    assert line([1], by=("a",), points=np.int64(5)) == ("ts.test(x, by=('a',), points=5)", ())
    assert line([1], "law", by={"u": [0.1]}) == ("ts.test(x, 'law', by={'u': [0.1]})", ())
    assert line([1], [2], by=["a"] * 21, progress=True) == ("ts.test(x, y, by=by)", ("by",))
    assert line([1], [2], by=[np.eye(2)], points=float("inf")) == (
        "ts.test(x, y, by=by, points=points)",
        ("by", "points"),
    )
