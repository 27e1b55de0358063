"""Kinds of data and options in the questions that are not `test`: each answer has an independent reference."""

import dataclasses

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError, InputTypeError
from twosample.models import PRESETS, HalfCauchy


def words(count, seed, p=(0.25, 0.25, 0.25, 0.25), length=15):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), length, p=p)) for _ in range(count)]


def frame(count, seed, south=0.2):
    rng = np.random.default_rng(seed)
    places = rng.choice(["north", "south", "west"], count, p=[0.8 - south, south, 0.2])
    return pl.DataFrame({"u": rng.normal(size=count), "place": places})


GROUPS = {name: np.random.default_rng(seed).normal(shift, 1.0, (40, 2)) for name, seed, shift in
          (("a", 1, 0.0), ("b", 2, 0.0), ("c", 3, 0.7))}  # fmt: skip


def test_several_groups_average_over_kernels():
    kernels = ["rbf", "laplace"]
    found, alone = ts.ksample(GROUPS, kernel=kernels), [ts.ksample(GROUPS, kernel=kernel) for kernel in kernels]
    for name in ("partition_log_bf10", "pair_log_bf10", "column_log_bf10"):
        expected = np.log(np.mean([np.exp(getattr(one, name)) for one in alone], axis=0))
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12)
    assert found.bf10 == pytest.approx(np.mean([one.bf10 for one in alone]), rel=1e-12)


def test_two_groups_at_a_given_lengthscale_are_two_samples():
    x, y = GROUPS["a"], GROUPS["c"]
    found = ts.ksample([x, y], lengthscale=1.5)
    assert found.log_bf10 == pytest.approx(ts.test(x, y, lengthscale=1.5).log_bf10, abs=0.3)
    assert found.log_bf10 != pytest.approx(ts.ksample([x, y], lengthscale=0.2).log_bf10, abs=0.5)


def test_robustness_of_groups_and_laws_is_the_test_again():
    for ask, alone in (
        (lambda **how: ts.ksample(GROUPS, **how), 0.5 / 0.3),
        (lambda **how: ts.goodness(GROUPS["c"][:, 0], "norm(0, 1)", **how), 1.0),
    ):
        wider = PRESETS["adaptive"]
        wider = dataclasses.replace(wider, amplitude=HalfCauchy(1.0), amplitude_of_one=HalfCauchy(alone))
        curves = {curve.name: curve for curve in ask().robustness().curves}
        points = dict(zip(curves["points"].values.tolist(), curves["points"].log_bf10.tolist(), strict=True))
        assert points[20.0] == pytest.approx(ask(points=20).log_bf10, abs=1e-9)
        scales = dict(zip(curves["amplitude"].values.tolist(), curves["amplitude"].log_bf10.tolist(), strict=True))
        assert scales[1.0] == pytest.approx(ask(model=wider).log_bf10, abs=1e-9)


def test_a_law_of_data_frames_is_that_of_their_rows():
    def rows(size, rng):
        return rng.normal(size=(size, 2))

    def frames(size, rng):
        return pl.DataFrame(rows(size, rng), schema=["v", "u"], orient="row")

    x = GROUPS["c"]
    table = pl.DataFrame(x[:, ::-1], schema=["u", "v"], orient="row")
    expected = ts.goodness(x, rows, draws=1000, simulations=19)
    found = ts.goodness(table, frames, draws=1000, simulations=19)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=0.5)  # the columns are in another order
    same = ts.goodness(pl.DataFrame(x, schema=["v", "u"], orient="row"), frames, draws=1000, simulations=19)
    assert same.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9) and same.pvalue == expected.pvalue


def test_a_law_with_text_names_the_level():
    def law(size, rng):
        return frame(size, rng.integers(2**32))

    assert ts.goodness(frame(80, 1), law, draws=1000).prob_h1 < 0.5
    found = ts.goodness(frame(80, 1, 0.6), law, draws=1000, simulations=19)
    assert found.pvalue == 0.05 and found.by_column[0].column == "place" and "'south'" in found.by_column[0].words
    with pytest.raises(InputError, match="categories: this law draws numbers; let it draw data frames"):
        ts.goodness([1.0, 2.0, 3.0], "norm(0, 1)", categories=["0"])


def test_values_that_a_law_lacks_are_left_out():
    def law(size, rng):
        return np.where(rng.random((size, 1)) < 0.2, np.nan, rng.normal(size=(size, 1)))

    with pytest.raises(InputError, match="law: it draws missing or infinite values"):
        ts.goodness(GROUPS["a"][:, 0], law, draws=1000)
    found = ts.goodness(GROUPS["a"][:, 0], law, draws=1000, simulations=19, nan_policy="omit")
    assert 750 < found.n_y < 850 and found.prob_h1 < 0.5 and 0.05 <= found.pvalue <= 1.0
    with pytest.raises(InputError, match="law: nearly all rows that it draws lack a value"):
        ts.goodness(
            [1.0, 2.0, 3.0],
            lambda size, rng: np.r_[[1.0, 2.0], np.full(size - 2, np.nan)],
            draws=1000,
            nan_policy="omit",
        )


def test_a_law_averages_over_kernels():
    x = GROUPS["c"][:, 0]
    found = ts.goodness(x, "norm(0, 1)", kernel=["rbf", "laplace"])
    alone = [ts.goodness(x, "norm(0, 1)", kernel=kernel).bf10 for kernel in ("rbf", "laplace")]
    assert found.bf10 == pytest.approx(np.mean(alone), rel=1e-9) and len(found.kernels) == 2


def test_objects_against_a_law_are_like_a_test_of_many_objects():
    def law(size, rng):
        return words(size, rng.integers(2**32))

    x = words(50, 1, (0.4, 0.1, 0.1, 0.4))
    found = ts.goodness(x, law, kernel="kmer", draws=1000, points=15, simulations=19)
    pooled = ts.test(x, law(1000, np.random.default_rng(9)), kernel="kmer", points=15)
    assert found.log_bf10 == pytest.approx(pooled.log_bf10, rel=0.2) and found.log_bf10 > 10
    assert found.pvalue == 0.05 and "comes from" in ts.goodness(words(50, 2), law, kernel="kmer", draws=1000).verdict
    again = type(found).from_json(found.to_json())
    assert again.log_bf10 == found.log_bf10 and again.law == "law"
    with pytest.raises(InputTypeError, match="law: a distribution of numbers has no objects"):
        ts.goodness(x, "norm(0, 1)", kernel="kmer")


def test_several_groups_of_objects_have_the_evidence_of_their_kernel_values():
    groups = [words(30, seed, p) for seed, p in ((1, (0.25,) * 4), (2, (0.25,) * 4), (3, (0.4, 0.1, 0.1, 0.4)))]
    found = ts.ksample(groups, kernel="kmer", parameters=[1], points=12, permutations=19)
    assert found.partitions[0].groups == (("0", "1"), ("2",)) and found.pvalue == 0.05
    shares = [np.array([[word.count(letter) for letter in "ACGT"] for word in group]) for group in groups]
    rows = [counts / np.linalg.norm(counts, axis=1, keepdims=True) for counts in shares]
    explicit = ts.ksample(rows, features=lambda objects: np.array(objects), points=12)
    assert explicit.partitions[0].groups == found.partitions[0].groups
    assert "90 objects" in str(found) and type(found).from_json(found.to_json()) == found


def test_streams_with_text_name_the_level_and_go_through_their_file(tmp_path):
    monitor = ts.Monitor(permutations=39, points=10)
    for seed in range(3):
        state = monitor.update(frame(50, seed), frame(50, seed + 10, 0.6))
        monitor.save(tmp_path / "stream.npz")
        monitor = ts.Monitor.load(tmp_path / "stream.npz")
    assert state.by_column[0].column == "place" and "57 %" in state.by_column[0].words and state.log_evalue > 3
    unseen = frame(50, 9).with_columns(place=pl.lit("east"))
    assert monitor.update(frame(50, 8), unseen).log_evalue > state.log_evalue
    both = frame(150, 1), frame(150, 2, 0.6)
    assert ts.test(*both).sequential(batches=3, permutations=39, points=10).state.log_evalue > 3


def test_streams_of_objects(tmp_path):
    monitor = ts.Monitor(kernel="kmer", permutations=39, points=10)
    for seed in range(3):
        state = monitor.update(words(30, seed), words(30, seed + 10, (0.4, 0.1, 0.1, 0.4)))
    assert state.alarm and "objects" in str(state) and type(state).from_json(state.to_json()).log_bf10 == state.log_bf10
    with pytest.raises(InputError, match="kernel: 'kmer' is one of objects, which are not written to files"):
        monitor.save(tmp_path / "objects.npz")
    spent = ts.Monitor(kernel="kmer", permutations=39, points=10, reference=words(160, 1))
    assert spent.state.reference_left == 120
    assert spent.update(words(30, 2)).reference_left == 90 and not spent.state.alarm
    with pytest.raises(InputError, match="x and y: 3 objects are too few to choose points among"):
        ts.Monitor(kernel="kmer").update(["a", "b"], ["c"])
    with pytest.raises(InputError, match="columns: is for rows of a table, not for objects"):
        ts.Monitor(kernel="kmer", columns=["a"])


def test_evalues_of_streams_have_mean_one_for_text_and_objects():
    """Two batches each; the mean over streams is 1 within its error."""
    found = []
    for seed in range(40):
        monitors = ts.Monitor(permutations=19, points=8), ts.Monitor(permutations=19, points=8, kernel="kmer")
        for step in range(2):
            first, second = 1000 + 4 * seed + 2 * step, 1001 + 4 * seed + 2 * step
            states = (
                monitors[0].update(frame(15, first), frame(15, second)),
                monitors[1].update(words(15, first), words(15, second)),
            )
        found.append([state.evalue for state in states])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - 1.0) < 3.5 * error + 0.1).all()


def test_independence_of_objects_is_that_of_the_components_of_their_kernel():
    x = [*words(40, 1), *words(40, 2, (0.4, 0.1, 0.1, 0.4))]
    y = np.repeat([0.0, 1.0], 40)
    counts = np.array([[word.count(letter) for letter in "ACGT"] for word in x], dtype=float)
    found = ts.independence(counts.tolist(), y, features=lambda objects: np.array(objects))
    scaled = (counts - counts.mean(axis=0)) / counts.std(axis=0)
    left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    expected = ts.independence((left * sizes)[:, :3], y)
    np.testing.assert_allclose(np.sort(found.pairs.ravel()), np.sort(expected.pairs.ravel()), atol=0.01)
    assert (
        ts.independence(x, y, kernel="kmer").prob_h1
        > 0.99
        > 0.5
        > ts.independence(words(80, 5), y, kernel="kmer").prob_h1
    )
    with pytest.raises(InputError, match="kernel: 'laplace' is not one of objects; leave it out"):
        ts.independence(x, y, kernel="laplace")
    with pytest.raises(InputError, match="x: all objects are equal to the kernel"):
        with pytest.warns(ts.errors.FlatFeaturesWarning):
            ts.independence(["ab"] * 10, y[:10], kernel="kmer")


def test_warnings_of_groups_name_the_group():
    with pytest.warns(DroppedDataWarning, match="one value throughout: 'k'"):
        ts.ksample({name: frame(30, seed).with_columns(k=pl.lit("same")) for name, seed in (("a", 1), ("b", 2))})
