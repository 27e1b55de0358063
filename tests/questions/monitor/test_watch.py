"""Monitors as a whole: what an update does, what stays the same whatever the order, and the reference that is spent."""

import copy
import math
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError, InputTypeError


def after(batches, **options):
    monitor = ts.Monitor(**{"points": 10, **options})
    for x, y in batches:
        monitor.update(x, y)
    return monitor


def test_a_difference_gives_an_alarm_and_its_place(stream):
    monitor = after(stream(1, 8, shift=0.8))
    state, history = monitor.state, monitor.history
    assert state.alarm and state.batches == 8 and (state.n_x, state.n_y) == (240, 320)
    crossed = next(row.batch for row in history if row.log_evalue >= math.log(20))
    assert state.crossed_at == crossed
    assert state.evalue == pytest.approx(math.exp(state.log_evalue))
    total = np.cumsum([row.log_batch_evalue for row in history])
    assert [row.log_evalue for row in history] == pytest.approx(total.tolist())
    assert [row.n_y for row in history] == [40 * (k + 1) for k in range(8)]


def test_the_alarm_stays(stream):
    monitor = after(stream(1, 4, shift=1.5))
    crossed = monitor.state.crossed_at
    for x, y in stream(2, 6):
        state = monitor.update(x, y)
    assert state.crossed_at == crossed is not None


def test_the_run_length_detector_follows_its_recursion(stream):
    monitor = after(stream(3, 6, shift=0.5), alpha=0.2)
    value, first = 0.0, None
    for row in monitor.history:
        value = math.exp(row.log_batch_evalue) * (value + 1.0)
        first = row.batch if first is None and value >= 5.0 else first
        assert row.log_run_length == pytest.approx(math.log(value), abs=1e-9)
    assert monitor.state.run_length.alarm_at == first is not None


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("sizes", [(30, 40), (35, 35)])
def test_samples_may_be_exchanged(stream, paired, sizes):
    if paired and sizes[0] != sizes[1]:
        pytest.skip("pairs")
    batches = stream(4, 5, *sizes, columns=2, shift=0.4)
    one = after(batches, paired=paired).history
    other = after([(y, x) for x, y in batches], paired=paired).history
    # Rounding in sums, in another order.
    assert [row.log_evalue for row in other] == pytest.approx([row.log_evalue for row in one], abs=1e-7)


def test_the_order_of_rows_in_a_batch_does_not_matter(stream):
    batches, rng = stream(5, 5, columns=2, shift=0.4), np.random.default_rng(0)
    shuffled = [(rng.permutation(x), rng.permutation(y)) for x, y in batches]
    expected = [row.log_evalue for row in after(batches).history]
    assert [row.log_evalue for row in after(shuffled).history] == pytest.approx(expected, abs=1e-7)


def test_the_units_of_columns_do_not_matter(stream):
    batches = stream(6, 5, columns=2, shift=0.4)
    unit, start = np.array([1000.0, 0.03]), np.array([-7.0, 40.0])
    changed = [(start + unit * x, start + unit * y) for x, y in batches]
    expected = [row.log_evalue for row in after(batches).history]
    # Points are chosen by distances, of which some are equal but for rounding.
    assert [row.log_evalue for row in after(changed).history] == pytest.approx(expected, abs=1e-5)


def test_streams_that_drift_together_are_the_same():
    rng = np.random.default_rng(7)
    monitor = ts.Monitor(points=10)
    for day in range(15):
        # More and more rows of y, so that all rows together differ.
        state = monitor.update(rng.normal(day, 1, 30), rng.normal(day, 1, 20 + 10 * day))
    assert not state.alarm and state.log_evalue < 1.5


@settings(max_examples=12, deadline=None)
@given(cuts=st.lists(st.integers(0, 12), max_size=4), seed=st.integers(0, 99))
def test_rows_wait_until_both_streams_have_two(cuts, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(12, 1)), rng.normal(size=(9, 1))
    whole = after([(x, y)]).state
    monitor = ts.Monitor(points=10)
    edges = [0, *sorted(cuts), 12]
    for first, last in pairwise(edges):
        state = monitor.update(x[first:last], None)
        assert state.batches == 0 and state.waiting == (last, 0) and state.log_evalue == 0.0
    monitor.update(None, y[:1])
    assert monitor.state.waiting == (12, 1)
    state = monitor.update([], y[1:])
    assert state.waiting == (0, 0) and state.batches == 1
    assert state.log_evalue == whole.log_evalue
    assert monitor.received == (12, 9)


@settings(max_examples=8, deadline=None)
@given(
    sizes=st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), min_size=1, max_size=6), seed=st.integers(0, 9)
)
def test_batches_of_any_sizes_add_up(sizes, seed):
    rng = np.random.default_rng(seed)
    monitor = ts.Monitor(points=6, permutations=19)
    for n_x, n_y in sizes:
        state = monitor.update(rng.integers(0, 3, (n_x, 2)), rng.integers(0, 3, (n_y, 2)))
        assert math.isfinite(state.log_evalue) and state.log_batch_evalue <= math.log(20) + 1e-9
    total = np.sum(sizes, axis=0)
    assert (state.n_x + state.waiting[0], state.n_y + state.waiting[1]) == tuple(total)


def test_the_seed_decides(stream):
    batches = stream(8, 3, shift=0.3)
    one, same, other = (after(batches, rng=seed).state.log_evalue for seed in (1, 1, 2))
    assert one == same != other


def test_the_answer_so_far_is_that_of_the_plan(stream):
    batches = stream(9, 4, columns=3, shift=np.array([0.0, 0.7, 0.0]))
    state = after(batches, points=20).state
    x, y = (np.concatenate(rows) for rows in zip(*batches, strict=True))
    expected = state.plan.test(state.plan.statistics(x, y))
    assert state.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-8)
    assert state.prob_h1 == pytest.approx(expected.prob_h1, abs=1e-8)
    assert state.by_column[0].column == "1" and state.by_column[0].prob > 0.9
    assert state.witness(x[:5]).mean == pytest.approx(expected.witness(x[:5]).mean, abs=1e-8)
    assert state.log_bf10 == pytest.approx(ts.test(x, y).log_bf10, rel=0.3)


def test_the_reference_is_spent_row_by_row_each_once():
    rng = np.random.default_rng(10)
    reference = np.arange(100.0) + rng.random(100) * 0.1
    monitor = ts.Monitor(reference=reference, points=10)
    order, lefts = monitor._memory.reference.ravel(), []
    assert np.array_equal(np.sort(order), np.sort(reference)) and not np.array_equal(order, reference)
    for size in (30, 1, 29, 25):
        state = monitor.update(rng.uniform(0, 100, size))
        lefts.append(state.reference_left)
        assert np.array_equal(monitor._memory.reference.ravel(), order[100 - state.reference_left :])
    assert lefts == [70, 70, 40, 15] and state.n_x == 85 and state.n_y == 85
    assert (
        np.isin(state.statistics.sketch_x.rows.ravel(), order[:85]).all() and len(state.statistics.sketch_x.rows) == 85
    )
    state = monitor.update(rng.uniform(0, 100, 40))
    assert state.spent and state.n_x == 100 and state.n_y == 125 and "spent" in str(state)
    before = state.log_evalue
    with pytest.raises(InputError, match=r"reference: it is spent.*refill"):
        monitor.update([1.0, 2.0, 3.0])
    assert monitor.state.log_evalue == before and monitor.received == (0, 125)
    monitor.refill(rng.uniform(0, 100, 50))
    assert monitor.update(rng.uniform(0, 100, 20)).reference_left == 30


def test_the_order_of_the_reference_is_random_but_seeded():
    reference = np.arange(50.0)
    one, same, other = (ts.Monitor(reference=reference, rng=seed)._memory.reference for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_a_window_counts_the_last_batches(stream):
    batches = stream(11, 7, shift=0.5)
    plain, windowed = after(batches), after(batches, window=3)
    each = [row.log_batch_evalue for row in plain.history]
    assert [row.log_batch_evalue for row in windowed.history] == each
    expected = [sum(each[max(0, k - 2) : k + 1]) for k in range(7)]
    assert [row.log_evalue for row in windowed.history] == pytest.approx(expected)
    assert "at any one batch" in after(stream(1, 4, shift=1.5), window=3).state.verdict


def test_forgetting_weighs_what_was_learnt(stream):
    learnt = after(stream(12, 4), forget=0.25)._memory.learning.learnt[0]
    each = 1 / (1 / 30 + 1 / 40)
    assert learnt.weight == pytest.approx(each * (1 + 0.75 + 0.75**2 + 0.75**3))
    assert learnt.rows == pytest.approx(70 * (1 + 0.75 + 0.75**2 + 0.75**3))


def test_forgetting_finds_a_change_earlier_than_the_whole_past():
    rng = np.random.default_rng(13)
    batches = [(rng.normal(0, 1, 40), rng.normal(0.7 * (day >= 40), 1, 40)) for day in range(52)]
    plain, forgetting = after(batches, permutations=99), after(batches, permutations=99, forget=0.1)
    gain = [sum(row.log_batch_evalue for row in one.history[40:]) for one in (plain, forgetting)]
    assert gain[1] > gain[0]


def test_memory_does_not_grow_with_the_stream(stream):
    def held(monitor):
        from twosample.questions.monitor.saving import to_arrays

        arrays = to_arrays(monitor._memory)
        kept = {name: np.asarray(array) for name, array in arrays.items() if "sketch" not in name}
        return sum(array.nbytes for name, array in kept.items() if name != "history")

    monitor = after(stream(14, 10), permutations=9)
    before = held(monitor)
    for x, y in stream(15, 60):
        monitor.update(x, y)
    assert monitor._memory.learning.young is None
    assert abs(held(monitor) - before) < 200


def test_a_long_history_is_thinned(stream, monkeypatch):
    from twosample.questions.monitor import memory

    monkeypatch.setattr(memory, "LONGEST_HISTORY", 8)
    monitor = after(stream(16, 30, 5, 5), permutations=9, points=4)
    numbers = [row.batch for row in monitor.history]
    assert len(numbers) <= 8 and numbers[-1] == 30 and numbers == sorted(numbers)


def test_the_plan_is_made_anew_as_rows_become_more_and_then_stays(stream):
    monitor, plans, rows = ts.Monitor(points=6, permutations=9), [], []
    for x, y in stream(28, 30, 10, 10):
        monitor.update(x, y)
        plans.append(monitor.plan.key)
        rows.append(monitor._memory.learning.planned)
    changes = [k for k in range(1, 30) if plans[k] != plans[k - 1]]
    assert all(rows[k] >= 1.25 * rows[k - 1] or rows[k] == 400 for k in changes)
    assert rows[-1] == 400 and max(changes) == 19 and len(changes) < 12


def test_history_as_a_frame(stream):
    frame = after(stream(17, 3)).history.to_frame("polars")
    assert frame.columns == ["batch", "n_x", "n_y", "log_batch_evalue", "log_evalue", "log_run_length"]
    assert frame["batch"].to_list() == [1, 2, 3]


def test_columns_by_name_in_any_order():
    rng = np.random.default_rng(18)
    monitor = ts.Monitor(points=10, drop=["day"])
    x, y = ({name: rng.normal(size=30) for name in ("u", "v", "day")} for _ in range(2))
    monitor.update(pl.DataFrame(x), pl.DataFrame(y))
    state = monitor.update(pl.DataFrame(y).select("v", "u"), pl.DataFrame(x))
    assert state.columns == ("u", "v") and {row.column for row in state.by_column} == {"u", "v"}
    with pytest.raises(InputError, match="'v'"):
        monitor.update(pl.DataFrame(x).drop("v"), pl.DataFrame(y))


def test_a_column_of_one_value_is_named_when_the_plan_is_settled():
    rng = np.random.default_rng(19)
    rows = [np.column_stack([rng.normal(size=250), np.ones(250)]) for _ in range(2)]
    monitor = ts.Monitor(points=10)
    with pytest.warns(DroppedDataWarning, match="not watched: '1'"):
        state = monitor.update(*rows)
    assert state.columns == ("0",) and "not watched" in str(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert monitor.update(*rows).batches == 2


def test_missing_values_are_refused_or_omitted():
    rng = np.random.default_rng(20)
    x, y = rng.normal(size=(2, 30))
    x[3] = np.nan
    monitor = ts.Monitor(points=10)
    with pytest.raises(InputError, match="nan_policy='omit'"):
        monitor.update(x, y)
    assert monitor.state.batches == 0 and monitor.state.waiting == (0, 0)
    with pytest.warns(DroppedDataWarning, match="1 of 30 rows of x"):
        omitting = ts.Monitor(points=10, nan_policy="omit")
        assert omitting.update(x, y).n_x == 29
    assert omitting.received == (30, 30)


def test_a_batch_that_fails_changes_nothing(stream, monkeypatch):
    [(x, y), (u, v)] = stream(21, 2)
    monitor = after([(x, y)])
    other = copy.copy(monitor)
    monkeypatch.setattr(
        "twosample.questions.monitor.evalues.log_statistics", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        monitor.update(u, v)
    monkeypatch.undo()
    assert monitor.update(u, v).log_evalue == other.update(u, v).log_evalue


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 2}, "alpha: must be a number between 0 and 1"),
        ({"window": 0}, "window: must be at least 1"),
        ({"forget": 1.5}, "forget: must be a number between 0 and 1"),
        ({"permutations": 0}, "permutations: must be at least 1"),
        ({"nan_policy": "drop"}, "nan_policy"),
        ({"reference": [1.0, 2.0], "paired": True}, "have no partners"),
        ({"prior_odds": -1}, "prior_odds"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        ts.Monitor(**options)


def test_plans_that_do_not_fit_are_refused():
    x = np.random.default_rng(22).normal(size=(40, 1))
    with pytest.raises(InputError, match="not for pairs"):
        ts.Monitor(plan=ts.plan(x), paired=True)
    with pytest.raises(InputError, match="takes no model 'paper'"):
        ts.Monitor(plan=ts.plan(x, model="paper"))
    with pytest.raises(InputTypeError, match="expected a Plan"):
        ts.Monitor(plan=3)
    with pytest.raises(InputTypeError, match="subsets"):
        ts.Monitor(subsets=3)


def test_two_streams_to_a_monitor_with_a_reference_are_refused():
    monitor = ts.Monitor(reference=np.arange(20.0))
    with pytest.raises(InputError, match="takes one stream"):
        monitor.update([1.0, 2.0], [2.0, 3.0])
    with pytest.raises(InputError, match="two streams"):
        ts.Monitor().refill([1.0, 2.0])


def test_words_never_say_more_than_is_known(stream):
    quiet, loud = after(stream(23, 3)).state, after(stream(24, 4, shift=1.5)).state
    assert "no evidence that the streams are the same" in quiet.verdict
    assert "at most 0.05, however long" in loud.verdict
    for text in (str(quiet), str(loud)):
        assert "descriptive, without a guarantee" in text
    assert str(ts.Monitor().state).startswith("No batch yet")
    empty = ts.Monitor(prior_odds=3.0).state
    assert (empty.log_bf10, empty.prob_h1, len(empty.by_column)) == (0.0, 0.75, 0)
    with pytest.raises(InputError, match="no batch yet"):
        empty.witness([0.0])
    assert repr(quiet).startswith("MonitorState(batches=3, ") and repr(after(stream(23, 1))).startswith("Monitor(")
    assert loud.to_dict()["crossed_at"] == loud.crossed_at and empty.to_dict()["log_run_length"] is None


def test_huge_evalues_are_numbers(stream):
    state = after(stream(25, 3, shift=9.0)).state
    from dataclasses import replace

    assert math.isfinite(replace(state, log_evalue=5000.0).evalue)
    assert "e+2171" in str(replace(state, log_evalue=5000.0))


def test_finished_samples_in_their_order():
    rng = np.random.default_rng(26)
    x, y = pl.DataFrame({"u": rng.normal(size=100)}), pl.DataFrame({"u": rng.normal(0.9, 1, size=150)})
    monitor = ts.sequential(x, y, batches=5, points=10)
    by_hand = after([(x[20 * k : 20 * k + 20], y[30 * k : 30 * k + 30]) for k in range(5)])
    assert monitor.history.to_plain() == by_hand.history.to_plain() and monitor.state.columns == ("u",)
    result = ts.test(x, y)
    assert result.sequential(batches=5, points=10).history.to_plain() == by_hand.history.to_plain()
    assert result.changed(prior_odds=2.0).sequential(batches=2).state.batches == 2
    with pytest.raises(InputError, match="no data to look at again"):
        ts.TwoSampleResult.from_json(result.to_json()).sequential()
    with pytest.raises(InputError, match="batches: must be at least 1"):
        ts.sequential(x, y, batches=0)
    with pytest.raises(InputError, match="two samples already"):
        ts.sequential(x, y, reference=[1.0, 2.0])


def test_finished_pairs_in_their_order():
    rng = np.random.default_rng(27)
    x = rng.normal(size=60)
    result = ts.test(x, x + rng.normal(0.5, 0.3, size=60), paired=True)
    assert result.sequential(batches=4).state.paired
    with pytest.raises(InputError, match="needs one row of y for each row of x"):
        ts.sequential(x, x[:50], paired=True)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "cauchy", "integers"])
def test_null_streams_rarely_cross(law):
    """Of 40 null streams of 20 batches about 4 % or less ever cross 20; the mean e-value of a batch is 1."""
    draws = {
        "normal": lambda rng, n: rng.normal(size=n),
        "cauchy": lambda rng, n: rng.standard_cauchy(n),
        "integers": lambda rng, n: rng.integers(0, 4, n).astype(float),
    }
    crossed, each = 0, []
    for seed in range(40):
        rng = np.random.default_rng([seed, 77])
        monitor = ts.Monitor(points=6, permutations=19, rng=seed)
        for _ in range(20):
            state = monitor.update(draws[law](rng, int(rng.integers(4, 16))), draws[law](rng, int(rng.integers(4, 16))))
        crossed += state.alarm
        each += [math.exp(row.log_batch_evalue) for row in monitor.history]
    assert crossed <= 0.05 * 40 + 3 * math.sqrt(40 * 0.05 * 0.95)
    assert np.mean(each) == pytest.approx(1.0, abs=4 * np.std(each) / math.sqrt(len(each)))


def test_a_reference_that_is_used_again_and_again_gives_false_alarms():
    """Why rows of a reference are spent: the streams are the same, and all of them have an alarm."""
    for seed in range(3):
        rng = np.random.default_rng([7, seed])
        reference, monitor = rng.normal(size=200), ts.Monitor(alpha=0.05)
        assert any(monitor.update(reference, rng.normal(size=50)).alarm for _ in range(15))
