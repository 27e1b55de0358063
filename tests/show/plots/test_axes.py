"""What is true of any picture."""

import sys

import pytest

from twosample.errors import MissingExtraError
from twosample.show.plots import plot_result


def test_leaves_global_state_alone(one):
    import matplotlib.pyplot as plt

    before = dict(plt.rcParams)
    plot_result(one)
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before


def test_missing_matplotlib_names_the_extra(one, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"plot needs matplotlib.*twosample\[plot\]"):
        plot_result(one)


def test_notebooks_show_it(one):
    formatters = pytest.importorskip("IPython.core.formatters")
    figure = plot_result(one)
    shown, _ = formatters.DisplayFormatter().format(figure)
    assert shown["image/png"].startswith(b"\x89PNG")
