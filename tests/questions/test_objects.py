import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample.errors import FlatFeaturesWarning, InputError, InputTypeError

RNG = np.random.default_rng(3)


def strings(count, letters, rng=RNG):
    return ["".join(rng.choice(list(letters), rng.integers(3, 12))) for _ in range(count)]


X, Y = strings(40, "aab"), strings(30, "abb")


def shared_letters(some, others, power):
    """A kernel of somebody else: products of numbers of letters, to a power; k(a, a) is not 1."""
    count = [np.array([[one.count(letter) + 0.5 for letter in "ab"] for one in objects]) for objects in (some, others)]
    return (count[0] @ count[1].T) ** power


class Recorded:
    """A kernel that remembers what it was asked."""

    def __init__(self, kernel):
        self.kernel, self.asked = kernel, []

    def __call__(self, some, others, parameter):
        self.asked.append((list(some), list(others), parameter))
        return self.kernel(some, others, parameter)

    @property
    def points(self):
        points = [others[0] for some, others, parameter in self.asked if len(some) > 1]
        return list(dict.fromkeys(points))


def normalised(kernel, some, others, parameter):
    own = [np.array([kernel([one], [one], parameter)[0, 0] for one in objects]) for objects in (some, others)]
    return kernel(some, others, parameter) / np.sqrt(np.outer(*own))


def test_it_is_the_test_of_its_kernel_values():
    kernel = Recorded(shared_letters)
    result = ts.test(X, Y, kernel=kernel, parameters=[1, 2], points=7, permutations=30)
    points = kernel.points
    assert len(points) == result.diagnostics.points == 7
    K = [
        np.stack([normalised(shared_letters, objects, points, parameter) for parameter in (1, 2)])
        for objects in (X, Y, points)
    ]
    again = ts.test_gram(*K, parameters=[1, 2], permutations=30)
    assert result.log_bf10 == pytest.approx(again.log_bf10, abs=1e-9)
    assert (result.pvalue, result.evalue) == (again.pvalue, pytest.approx(again.evalue, rel=1e-9))
    np.testing.assert_allclose(result.witness_x, again.witness_x, atol=1e-9)
    new = ["aaaa", "bbb", "ab"]
    at = np.stack([normalised(shared_letters, new, points, parameter) for parameter in (1, 2)])
    np.testing.assert_allclose(result.witness(new).mean, again.witness(at).mean, atol=1e-9)
    np.testing.assert_allclose(result.witness(new).sd, again.witness(at).sd, atol=1e-9)


def test_kernels_are_evaluated_at_the_points_only():
    kernel = Recorded(shared_letters)
    ts.test(X, Y, kernel=kernel, parameters=[1, 3], points=5)
    n = len(X) + len(Y)
    assert sum(len(some) * len(others) for some, others, _ in kernel.asked) == 2 * n * (5 + 1)
    assert {parameter for _, _, parameter in kernel.asked} == {1, 3}
    ts.test(X, Y, kernel=(default := Recorded(lambda a, b, _: shared_letters(a, b, 1))))
    assert {parameter for _, _, parameter in default.asked} == {None}


def test_points_do_not_depend_on_labels_or_order():
    pool = [*X, *Y]
    found = set()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(pool))
        kernel = Recorded(shared_letters)
        ts.test([pool[k] for k in order[:20]], [pool[k] for k in order[20:]], kernel=kernel, parameters=[1], points=6)
        found.add(tuple(kernel.points))
    assert len(found) == 1


def test_only_angles_count():
    def stretched(some, others, parameter):
        return shared_letters(some, others, parameter) * np.outer(
            *([len(one) for one in both] for both in (some, others))
        )

    one, other = (ts.test(X, Y, kernel=kernel, parameters=[1]) for kernel in (shared_letters, stretched))
    assert one.log_bf10 == pytest.approx(other.log_bf10, abs=1e-8)


texts = st.lists(st.text("abc", max_size=6), min_size=2, max_size=9)


@pytest.mark.filterwarnings("ignore::twosample.errors.FlatFeaturesWarning")
@settings(max_examples=25, deadline=None)
@given(texts, texts, st.randoms(), st.sampled_from(["kmer", "callable", "features"]))
def test_swapping_samples_and_permuting_objects_changes_nothing(x, y, random, kind):
    how = {
        "kmer": {"kernel": "kmer", "parameters": [1, 3]},
        "callable": {"kernel": shared_letters, "parameters": [2]},
        "features": {"features": lambda objects: [[len(one), one.count("a"), 2 * one.count("b")] for one in objects]},
    }[kind]
    result = ts.test(x, y, permutations=20, **how)
    assert math.isfinite(result.log_bf10) and 0 < result.pvalue <= 1
    x_again, y_again = x.copy(), y.copy()
    random.shuffle(x_again)
    random.shuffle(y_again)
    for other in (ts.test(x_again, y_again, permutations=20, **how), ts.test(y_again, x, permutations=20, **how)):
        assert other.log_bf10 == pytest.approx(result.log_bf10, abs=1e-7)
        assert other.pvalue == result.pvalue
        assert other.effect.auc.mean == pytest.approx(result.effect.auc.mean, abs=1e-6)


def test_objects_without_an_order_of_their_own():
    x, y = (
        [(lambda value=value: value) for value in RNG.normal(0, 1, 40)],
        [(lambda value=value: value) for value in RNG.normal(1, 1, 40)],
    )

    def kernel(some, others, parameter):
        values = [np.array([one() for one in objects]) for objects in (some, others)]
        return np.exp(-0.5 * np.subtract.outer(*values) ** 2)

    result = ts.test(x, y, kernel=kernel)
    assert "have no order of their own" in result.diagnostics.notes[0]
    assert ts.test(x, y, kernel=kernel).log_bf10 == result.log_bf10  # rng=0
    assert ts.test(x, y, kernel=kernel, rng=1).log_bf10 == pytest.approx(result.log_bf10, abs=1.0)


def test_explicit_features_are_standardised_and_have_a_linear_kernel():
    def features(objects):
        return np.array([[len(one), one.count("a"), 1.0] for one in objects])

    result = ts.test(X, Y, features=features, points=70)
    rows = features([*X, *Y])[:, :2]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    # The points are all that are distinct, and these are all of them.
    points = np.unique(rows.round(9), axis=0)
    again = ts.test_gram(rows[:40] @ points.T, rows[40:] @ points.T, points @ points.T)
    assert result.diagnostics.points == len(points)
    assert result.log_bf10 == pytest.approx(again.log_bf10, abs=1e-7)
    assert result.kernel == "linear"
    for units in ((10.0, 1e-3, 1.0), (1e200, 1.0, 1.0)):
        other = ts.test(X, Y, features=lambda objects, units=units: features(objects) * units, points=70)
        assert other.log_bf10 == pytest.approx(result.log_bf10, abs=1e-7)
    np.testing.assert_allclose(np.sort(result.witness(X).mean), result.witness_x, atol=1e-9)


def test_explicit_features_see_means():
    x, y = list(RNG.normal(0, 1, (150, 3))), list(RNG.normal([0.0, 0.6, 0.0], 1, (150, 3)))
    assert ts.test(x, y, features=np.array).prob_h1 > 0.99
    assert ts.test(x, list(RNG.normal(0, 1, (150, 3))), features=np.array).prob_h1 < 0.5
    wider = list(RNG.normal(0, 2, (150, 3)))
    assert ts.test(x, wider, features=np.array).prob_h1 < 0.5  # the means are the same
    assert ts.test(x, wider, features=lambda objects: np.square(objects)).prob_h1 > 0.99


def test_telling_objects_and_the_witness():
    result = ts.test(X, Y, kernel="kmer")
    assert result.prob_h1 > 0.9
    mean_x, mean_y = result.witness(X).mean, result.witness(Y).mean
    np.testing.assert_allclose(np.sort(mean_x), result.witness_x, atol=1e-9)
    np.testing.assert_allclose(np.sort(mean_y), result.witness_y, atol=1e-9)
    typical_x, typical_y = result.telling(3)
    np.testing.assert_allclose(result.witness(typical_x).mean, np.sort(mean_x)[::-1][:3], atol=1e-9)
    np.testing.assert_allclose(result.witness(typical_y).mean, np.sort(mean_y)[:3], atol=1e-9)
    assert [X[place] for place in result.telling_x[:3]] == typical_x
    low, high = result.witness(["aaa", "bbb"]).mean[::-1]
    assert low < high


def test_many_objects_are_shown_by_quantiles():
    x, y = strings(700, "aab"), strings(20, "abb")
    result = ts.test(x, y, kernel="kmer", parameters=[1], points=10)
    every = np.sort(result.witness(x).mean)
    assert len(result.witness_x) == 500 and len(result.witness_y) == 20
    assert result.witness_x[250] == pytest.approx(np.quantile(every, 0.501), abs=1e-6)


def test_json_pickles_and_reports_hold_no_objects(tmp_path):
    secret = "xyzzyplugh"
    result = ts.test([*X, secret], [*Y, secret * 2], kernel="kmer", permutations=20)
    text = result.to_json()
    again = ts.ObjectsResult.from_json(text)
    assert again == result
    assert again.summary() == result.summary()
    assert json.loads(text)["by_parameter"][0]["parameter"] == "1"
    page = result.report(tmp_path / "page.html").read_text()
    for content in (text, page, str(pickle.dumps(result)), result.text(), result._repr_html_()):
        assert secret not in content
    assert "Which objects tell them apart" in page and "objects" in result.text()
    for read in (again, pickle.loads(pickle.dumps(result))):
        with pytest.raises(InputError, match="witness: this result has no objects"):
            read.witness(["a"])
        with pytest.raises(InputError, match="telling: this result has no objects"):
            read.telling()
        read.remember(call=result.made_by)  # which files do not hold
        assert read.report(tmp_path / "again.html").read_text() == page
    named = result.changed(names=("<b>", "after"))
    assert named.telling() == result.telling()
    assert "<b>" not in named.report(tmp_path / "named.html").read_text().split("</style>")[1]


def test_summary():
    lines = ts.test(X, Y, kernel="kmer", permutations=20, prior_odds=2.0).summary().splitlines()
    begins = [line[2:22].strip() for line in lines[1:]]
    assert begins == [
        "P(different | data)",
        "prior odds",
        "log BF10",
        "p-value",
        "e-value",
        "AUC of the witness",
        "likeliest parameter",
        "data",
        "kernel",
        "model",
    ]
    assert "  data                 40 and 30 objects" in lines
    assert "  kernel               kmer" in lines


def test_plot():
    pytest.importorskip("matplotlib")
    result = ts.test(X, Y, kernel="kmer", parameters=[1, 2])
    figure = result.plot(names=("first", "$second"))
    left, right = figure.axes
    assert [bar.get_height() for bar in right.patches] == pytest.approx(result.parameter_log_bf10.tolist())
    assert [text.get_text() for text in right.get_xticklabels()] == ["1", "2"]
    outline = left.patches[0]
    assert outline.get_data().values.sum() == pytest.approx(1.0)
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["first (40 objects)", "$second (30 objects)"]
    figure.canvas.draw()
    assert len(ts.test(X, Y, kernel="kmer", parameters=[1]).plot().axes) == 1


def test_equal_objects_say_nothing():
    with pytest.warns(FlatFeaturesWarning):
        result = ts.test(["a"] * 5, ["a"] * 4, kernel="kmer")
    assert result.log_bf10 == pytest.approx(0.0, abs=1e-5)  # a few 1e-6 of the prior of the amplitude are left out


def test_progress_goes_up_to_the_end():
    shares = []
    ts.test(X, Y, kernel="kmer", permutations=10, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 10


def test_kernels_by_name_and_by_class():
    by_name, by_class = (ts.test(X, Y, kernel=kernel).log_bf10 for kernel in ("kmer", ts.domains.KMer()))
    assert by_name == by_class
    graphs = [[[(0, 1), (1, 2)]] * 5 + [[(0, 1)]] * 4, [[(0, 1), (1, 2), (2, 0)]] * 6]
    result = ts.test(*graphs, kernel="graph")
    assert result.kernel == "graph" and result.parameters == ("1", "2", "3")
    assert ts.test(*graphs, kernel=ts.domains.WeisfeilerLehman()).log_bf10 == result.log_bf10


def test_what_is_a_list_of_objects():
    import pandas as pd
    import polars as pl

    expected = ts.test(X, Y, kernel="kmer").log_bf10
    for kind in (tuple, iter, np.array, pd.Series, pl.Series):
        assert ts.test(kind(X), kind(Y), kernel="kmer").log_bf10 == expected
    for wrong in ("text", {"a": 1}, pd.DataFrame({"a": X}), pl.DataFrame({"a": X}), 3):
        with pytest.raises(InputTypeError, match="x: expected a list of objects"):
            ts.test(wrong, Y, kernel="kmer")
    with pytest.raises(InputError, match="y: needs at least 2 objects, not 1"):
        ts.test(X, Y[:1], kernel="kmer")
    with pytest.raises(InputTypeError, match="y: expected a list of objects, got NoneType"):
        ts.test(X, kernel="kmer")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("by", "a"),
        ("groups", ["a", "b"]),
        ("columns", ["a"]),
        ("drop", ["a"]),
        ("lengthscale", 1.0),
        ("subsets", None),
        ("scale", "raw"),
        ("scale", np.ones(2)),
        ("nan_policy", "omit"),
        ("tolerance", 0.1),
        ("engine", "threads"),
        ("keep_rows", True),
    ],
)
def test_options_of_tables_are_refused(name, value):
    with pytest.raises(InputError, match=f"{name}: is for rows of a table, not for objects; leave it out"):
        ts.test(X, Y, kernel="kmer", **{name: value})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kernel": "kmer", "parameters": []}, "parameters: the list is empty"),
        ({"kernel": "kmer", "parameters": 3}, r"parameters: expected a list, got int; .*parameters=\[3\]"),
        ({"kernel": "kmer", "parameters": [1.5]}, "parameters: expected a whole number, got 1.5"),
        ({"kernel": "kmer", "points": 0}, "points: must be at least 1, not 0"),
        ({"kernel": "kmer", "points": ["a"]}, "points: expected a whole number, got list"),
        ({"kernel": "kmer", "model": "paper"}, "model: 'paper' needs rows of numbers"),
        ({"kernel": lambda a, b, p: np.eye(2)}, r"kernel: of 1 and 1 objects .* shape \(1, 1\), not \(2, 2\)"),
        ({"kernel": lambda a, b, p: [["u"]]}, "kernel: it must return an array of numbers, not list"),
        ({"kernel": lambda a, b, p: np.full((len(a), len(b)), np.inf)}, "kernel: it returned values that are missing"),
        (
            {"kernel": lambda a, b, p: np.zeros((len(a), len(b)))},
            r"kernel: k\(a, a\) must be positive, but is 0 for ob",
        ),
        (
            {"kernel": lambda a, b, p: np.array([[1 if c == d else 0.5 - 0.3 * (c < d) for d in b] for c in a])},
            r"kernel: it must be symmetric, but k\(a, b\) is not k\(b, a\); use their mean",
        ),
        ({"features": lambda a: np.ones((2, 2))}, r"features: of 70 objects they must be an array \(70, p\)"),
        ({"features": lambda a: ["u"] * len(a)}, "features: they must be an array of numbers, not list"),
        ({"features": lambda a: [np.nan] * len(a)}, "features: object 0 has values that are missing"),
        ({"features": len, "kernel": "kmer"}, "kernel: explicit features have a linear kernel"),
        ({"features": len, "parameters": [1]}, "parameters: explicit features have a linear kernel"),
        ({"features": "fourier"}, "features: 'fourier' is unknown; pass a function of a list of objects"),
        ({"parameters": [1]}, "parameters: they are those of a kernel of objects; .*kernel='kmer'"),
    ],
)
def test_refusals(how, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        ts.test(X, Y, **how)


def test_other_questions_do_not_take_kernels_of_objects():
    with pytest.raises(InputError, match=r"kernel: 'kmer' is unknown; use 'rbf'.*; of objects it is for test"):
        ts.plan([0.3, 2.5, 1.1], [0.9, 1.8, 0.2], kernel="kmer")


def test_lists_of_strings_are_told_of_the_kernel():
    with pytest.raises(InputTypeError, match=r"holds text or categories .*kernel='kmer'"):
        ts.test(X, Y)


def test_new_objects_must_be_a_list():
    result = ts.test(X, Y, kernel="kmer")
    with pytest.raises(InputTypeError, match="at: expected a list of objects, got str"):
        result.witness("ab")
    with pytest.raises(InputTypeError, match="at: expected strings"):
        result.witness([1.5])
    of_features = ts.test(X, Y, features=lambda objects: [[len(one)] for one in objects])
    assert of_features.witness(["a" * 30]).mean.shape == (1,)


def test_pairs_of_objects_are_compared_by_their_differences():
    """What pairs share hides a small change from the test of two samples, and not from that of pairs."""
    rng = np.random.default_rng(4)
    first = [rng.normal(0.0, 3.0, 4) for _ in range(60)]
    second = [one + rng.normal(0.3, 0.2, 4) for one in first]
    features = lambda objects: np.array(objects)  # noqa: E731
    paired = ts.test(first, second, features=features, paired=True, permutations=99)
    assert paired.log_bf10 > 10 and paired.pvalue == 0.01 and paired.paired
    assert ts.test(first, second, features=features).log_bf10 < 0
    order = rng.permutation(60)
    again = ts.test([second[i] for i in order], [first[i] for i in order], features=features, paired=True)
    assert again.log_bf10 == pytest.approx(paired.log_bf10, abs=1e-8)
    with pytest.raises(InputError, match="x has 60 rows and y has 59; paired=True"):
        ts.test(first, second[1:], features=features, paired=True)


class Words:
    """A feature map of one's own: words, whose distance is the number of letters that only one of them has."""

    points, typical, count = ("art", "nose", "stone", "tin", "rain"), 2.0, 5

    def distances(self, words):
        return np.array([[len(set(a) ^ set(b)) for b in self.points] for a in words], dtype=float)

    def values(self, words, lengthscales):
        for index, lengthscale in enumerate(lengthscales):
            yield index, np.exp(-0.5 * self.distances(words) / lengthscale**2)

    def between(self, lengthscales):
        return np.stack([np.exp(-0.5 * self.distances(self.points) / lengthscale**2) for lengthscale in lengthscales])


def test_a_feature_map_of_ones_own_is_that_of_its_kernel_values():
    rng, features = np.random.default_rng(2), Words()
    x, y = (["".join(rng.choice(list(letters), 4)) for _ in range(50)] for letters in ("aeinor", "inorst"))
    lengthscales = 2.0 * 2.0 ** (np.arange(-8, 7) / 2)
    blocks = [np.stack([values.copy() for _, values in features.values(words, lengthscales)]) for words in (x, y)]
    expected = ts.test_gram(*blocks, features.between(lengthscales), permutations=19)
    found = ts.test(x, y, features=features, permutations=19)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9) and found.log_bf10 > 3
    assert (found.pvalue, found.kernel, len(found.parameters)) == (expected.pvalue, "Words", 15)
    assert ts.ksample([x[:25], x[25:], y], features=features).partitions[0].groups == (("0", "1"), ("2",))
