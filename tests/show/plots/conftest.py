"""Results to draw, and what pictures say."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from tests.recorded_chains import HOSTILE, recorded

import twosample as ts


@pytest.fixture(scope="session")
def hostile():
    """A name that is markup to whoever reads it as such."""
    return HOSTILE


@pytest.fixture(scope="session")
def frame():
    def frame(rows, *columns):
        return pl.DataFrame(np.asarray(rows).reshape(len(rows), -1), schema=list(columns), orient="row")

    return frame


@pytest.fixture(scope="session")
def result_of():
    def result_of(n_columns, *, shift=1.5, n=60, **options):
        rng = np.random.default_rng(n_columns)
        x, y = rng.normal(size=(n, n_columns)), rng.normal(size=(n + 10, n_columns))
        y[:, 0] += shift
        return ts.test(x, y, **options)

    return result_of


@pytest.fixture(scope="session")
def one(result_of):
    return result_of(1)


@pytest.fixture(scope="session")
def two(result_of):
    return result_of(2)


@pytest.fixture(scope="session")
def five(result_of):
    return result_of(5)


@pytest.fixture(scope="session")
def together(result_of):
    """Five columns that are tested together, and in no other way."""
    return result_of(5, subsets=None)


@pytest.fixture(scope="session")
def with_rows(result_of):
    """Two columns with rows to show."""
    return result_of(2, keep_rows=True)


@pytest.fixture(scope="session")
def correlated():
    """Five columns of which two differ in how they go together."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 120, 5))
    y[:, 3] = 0.95 * y[:, 1] + 0.3 * y[:, 3]
    return ts.test(x, y)


@pytest.fixture(scope="session")
def chains():
    return recorded("short")


@pytest.fixture(scope="session")
def several():
    return recorded("short of several")


@pytest.fixture(scope="session")
def many(several):
    """The chains of three columns as if they were those of fifteen."""
    columns = tuple(f"column {i}" for i in range(15))

    def wide(values):
        return np.concatenate([values] * 5, axis=-1)

    evidence = dataclasses.replace(
        several.evidence,
        lengthscales_h0=wide(several.evidence.lengthscales_h0),
        lengthscales_h1=wide(several.evidence.lengthscales_h1),
    )
    fields = ("loss", "loss_error", "shortening", "error", "probability")
    r_hat = np.arange(15.0)
    return dataclasses.replace(
        several,
        columns=columns,
        scale=np.ones(15),
        lengthscales=wide(several.lengthscales),
        evidence=evidence,
        relevance=dataclasses.replace(
            several.relevance,
            columns=columns[::-1],
            **{name: wide(getattr(several.relevance, name)) for name in fields},
        ),
        diagnostics=dataclasses.replace(
            several.diagnostics, r_hat_lengthscales=r_hat, ess_lengthscales=wide(several.diagnostics.ess_lengthscales)
        ),
    )


@pytest.fixture(scope="session")
def legend_texts():
    def legend_texts(axes):
        return [text.get_text() for text in axes.get_legend().get_texts()]

    return legend_texts


@pytest.fixture(scope="session")
def texts():
    def texts(axes):
        return [text.get_text() for text in axes.texts]

    return texts


@pytest.fixture(scope="session")
def panels():
    def panels(figure):
        return {axes.get_title(loc="left"): axes for axes in figure.axes}

    return panels
