"""Dask: the answer of collections is that of the same rows in memory or, of many rows, of the same blocks."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

import twosample as ts
from twosample.data import pilot
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, MissingExtraError
from twosample.places.dask import tasks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

NAMES = ["u", "v", "w"]


@pytest.fixture(autouse=True)
def scheduler(request):
    with dask.config.set(scheduler=getattr(request, "param", "synchronous")):
        yield


both_schedulers = pytest.mark.parametrize("scheduler", ["synchronous", "threads"], indirect=True)


@pytest.fixture(params=[200, pilot.PILOT_ROWS], ids=["pilot", "whole"])
def few_or_all(request, monkeypatch):
    """With a pilot of few rows, and with one of all."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", request.param)
    return request.param


def samples(n_x=700, n_y=500, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, 3)), rng.normal(size=(n_y, 3))
    y[:, 1] += 0.4
    x[:, 2], y[:, 2] = x[:, 2].round(1), y[:, 2].round(1)
    return x, y


def table(seed=0):
    """Both samples in one table, in random order."""
    x, y = samples(seed=seed)
    frame = pd.DataFrame(np.concatenate([x, y]), columns=NAMES).assign(arm=["a"] * len(x) + ["b"] * len(y))
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def blocks(collection):
    """The partitions of a collection as blocks."""
    return ts.blocks(list(dask.compute(*np.ravel(np.array(collection.to_delayed(), dtype=object)).tolist())))


def same(result, other):
    """The same answer, in all of its parts."""
    assert result.log_bf10 == pytest.approx(other.log_bf10, abs=1e-9)
    assert (result.n_x, result.n_y, result.names, result.columns) == (other.n_x, other.n_y, other.names, other.columns)
    assert result.left_out == other.left_out and result.diagnostics.notes == other.diagnostics.notes
    for one, two in zip(result.by_column, other.by_column, strict=True):
        assert one.log_bf10 == pytest.approx(two.log_bf10, abs=1e-9)


@both_schedulers
@pytest.mark.parametrize("columns", [3, 2], ids=["by rows", "by rows and columns"])
def test_arrays(few_or_all, columns):
    x, y = samples()
    result = ts.test(da.from_array(x, chunks=(90, columns)), da.from_array(y, chunks=(77, columns)))
    same(result, ts.test(ts.blocks([x[k : k + 90] for k in range(0, 700, 90)]), ts.blocks([y])))
    if few_or_all > 1200:
        same(result, ts.test(x, y))
    else:
        assert result.diagnostics.notes[0] == "The plan was made from a pilot of 206 of 1,200 rows."


def test_one_column_of_an_array():
    x, y = samples()
    same(ts.test(da.from_array(x[:, 0], chunks=90), da.from_array(y[:, 0], chunks=500)), ts.test(x[:, 0], y[:, 0]))


def test_unknown_chunk_sizes_and_empty_partitions(few_or_all):
    x, y = samples()
    of_x, of_y = da.from_array(x, chunks=(90, 3)), da.from_array(y, chunks=(77, 3))
    chosen_x, chosen_y = of_x[of_x[:, 0] > -0.5], of_y[of_y[:, 0] > -0.5]
    first = da.concatenate([da.from_array(np.empty((0, 3))), chosen_x, da.from_array(np.empty((0, 3)))])
    same(ts.test(first, chosen_y), ts.test(ts.blocks([x[x[:, 0] > -0.5]]), ts.blocks([y[y[:, 0] > -0.5]])))


@both_schedulers
def test_frames(few_or_all):
    x, y = (pd.DataFrame(rows, columns=NAMES) for rows in samples())
    result = ts.test(dd.from_pandas(x, npartitions=5), dd.from_pandas(y, npartitions=3), drop=["w"])
    same(result, ts.test(ts.blocks([x]), ts.blocks([y]), drop=["w"]))
    assert result.columns == ("u", "v")


def test_one_sample_in_memory(few_or_all):
    x, y = samples()
    same(ts.test(x, da.from_array(y, chunks=(77, 3))), ts.test(ts.blocks([x]), y))
    same(ts.test(da.from_array(x, chunks=(90, 3)), y.tolist()), ts.test(ts.blocks([x]), y))


@pytest.mark.parametrize(
    "options",
    [{}, {"columns": ["v", "u"]}, {"groups": ["b", "a"]}, {"drop": ["u"], "subsets": None, "lengthscale": 1.0}],
    ids=str,
)
def test_one_frame_that_is_split(few_or_all, options):
    frame = dd.from_pandas(table(), npartitions=7)
    same(ts.test(frame, by="arm", **options), ts.test(blocks(frame), by="arm", **options))


def test_groups_that_come_in_another_order_in_each_partition(few_or_all):
    x, y = samples(40, 40)
    whole = pd.DataFrame(np.concatenate([x[:10], y, x[10:]]), columns=NAMES)
    whole["arm"] = ["a"] * 10 + ["b"] * 40 + ["a"] * 30
    frame = dd.from_pandas(whole, npartitions=8)
    assert list(whole["arm"][10:50].unique()) == ["b"]  # the second to fifth partitions have b alone, or first
    result = ts.test(frame, by="arm")
    same(result, ts.test(ts.blocks([whole]), by="arm"))
    assert result.names == ("a", "b")


def test_labels_of_the_rows(few_or_all):
    whole = table()
    frame = dd.from_pandas(whole[NAMES], npartitions=7)
    same(ts.test(frame, by=whole["arm"]), ts.test(blocks(frame), by=whole["arm"]))
    with pytest.raises(InputError, match="by: has 1199 labels for 1200 rows; give one for each row"):
        ts.test(frame, by=whole["arm"][:-1])


def test_rows_without_a_value_or_a_label(few_or_all):
    whole = table()
    whole.loc[[3, 500, 900], "u"], whole.loc[[7, 901], "arm"] = np.nan, None
    frame = dd.from_pandas(whole, npartitions=7)
    with pytest.warns(DroppedDataWarning) as of_frame:
        result = ts.test(frame, by="arm", nan_policy="omit")
    with pytest.warns(DroppedDataWarning) as of_blocks:
        other = ts.test(blocks(frame), by="arm", nan_policy="omit")
    same(result, other)
    assert [str(one.message) for one in of_frame] == [str(one.message) for one in of_blocks]


@pytest.mark.parametrize("known", [True, False])
def test_the_place_of_a_missing_value(known):
    x, y = samples()
    y[83, 1] = y[400, 2] = np.inf  # the first of the two is said
    of_x, of_y = da.from_array(x, chunks=(90, 3)), da.from_array(y, chunks=(77, 3))
    if not known:
        of_y = of_y[of_y[:, 0] > -9.0]
    with pytest.raises(InputError, match=r"y has a missing or infinite value \(row 6 of block 1, column '1'\)"):
        ts.test(of_x, of_y)


def test_pairs(few_or_all):
    x, y = samples(600, 600)
    whole = ts.test(ts.blocks([x]), ts.blocks([y]), paired=True)
    of_x = da.from_array(x, chunks=(90, 3))
    same(ts.test(of_x, da.from_array(y, chunks=(77, 3)), paired=True), whole)
    x[5] = np.nan
    frames = [pd.DataFrame(rows, columns=NAMES) for rows in (x, y)]
    with pytest.warns(DroppedDataWarning, match="1 of 600"):
        whole = ts.test(*(ts.blocks([frame]) for frame in frames), paired=True, nan_policy="omit")
    with pytest.warns(DroppedDataWarning, match="1 of 600"):
        same(
            ts.test(*(dd.from_pandas(frame, npartitions=4) for frame in frames), paired=True, nan_policy="omit"), whole
        )


def test_pairs_that_are_refused():
    x, y = (pd.DataFrame(rows, columns=NAMES) for rows in samples(600, 600))
    four, five = dd.from_pandas(x, npartitions=4), dd.from_pandas(y, npartitions=5)
    with pytest.raises(InputError, match="partitions of x and y have different numbers of rows; give both the same"):
        ts.test(four, five, paired=True)
    with pytest.raises(InputError, match=r"600.*300"):
        ts.test(four, dd.from_pandas(y[:300], npartitions=4), paired=True)
    with pytest.raises(InputError, match="two collections with the same partitions"):
        ts.test(dd.from_pandas(table(), npartitions=4), by="arm", paired=True)


def test_few_rows_may_be_asked_anything():
    x, y = samples(60, 50)
    of_x, of_y = da.from_array(x, chunks=(25, 3)), da.from_array(y, chunks=(25, 3))
    result = ts.test(of_x, of_y, permutations=19)
    assert result.pvalue == ts.test(x, y, permutations=19).pvalue
    assert result.robustness() is not None


def test_what_needs_all_rows_is_refused(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 200)
    x, y = (da.from_array(rows, chunks=(90, 3)) for rows in samples())
    with pytest.raises(InputError, match="permutations: these rows are read in blocks"):
        ts.test(x, y, permutations=9)


def test_plan():
    x, y = samples()
    of_x, of_y = da.from_array(x, chunks=(90, 3)), da.from_array(y, chunks=(77, 3))
    assert ts.plan(of_x, of_y).key == ts.plan(ts.blocks([x]), ts.blocks([y])).key
    assert ts.plan(of_x).key == ts.plan(ts.blocks([x])).key


@pytest.mark.parametrize("kind", [lambda rows: da.from_array(rows, chunks=(90, 2)), np.asarray], ids=["dask", "sent"])
def test_a_third_pass(monkeypatch, kind):
    """Where the second was not accurate enough: the same data as in the test of that for blocks."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", 699)
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
    found = ts.test(kind(x), kind(y), engine="dask", subsets=None, tolerance=1e-4)
    assert found.diagnostics.evaluations == 85 and found.diagnostics.converged
    same(found, ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None, tolerance=1e-4))


@pytest.mark.parametrize("kind", ["arrays", "frames", "blocks", "lists", "pairs"])
def test_the_engine_takes_all_other_data(few_or_all, kind):
    x, y = samples(600, 600)
    make = {"frames": lambda rows: pd.DataFrame(rows, columns=NAMES), "lists": np.ndarray.tolist}.get(kind, np.asarray)
    given = [ts.blocks([rows[:100], rows[100:]]) if kind == "blocks" else make(rows) for rows in (x, y)]
    others = [ts.blocks([make(rows)]) for rows in (x, y)]
    same(ts.test(*given, engine="dask", paired=kind == "pairs"), ts.test(*others, paired=kind == "pairs"))


def test_the_engine_sends_parts_to_the_scheduler(monkeypatch):
    x, y = samples()
    sent = []
    with dask.config.set(scheduler=lambda graph, keys, **how: sent.append(keys) or dask.get(graph, keys, **how)):
        ts.test(x, y, engine="dask")
    assert len(sent) == 1


def same_columns(found, expected):
    """The same table of tests of single columns."""
    rows, others = ({row.column: row for row in result} for result in (found, expected))
    assert rows.keys() == others.keys() and found.notes == expected.notes and found.skipped == expected.skipped
    for name, row in rows.items():
        assert row.log_bf10 == pytest.approx(others[name].log_bf10, abs=1e-9)
        assert (row.n_x, row.n_y, row.direction) == (others[name].n_x, others[name].n_y, others[name].direction)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_each_column_of_arrays(few_or_all, paired, gaps):
    x, y = samples(700, 700)
    if gaps:
        rng = np.random.default_rng(1)
        x[rng.random(x.shape) < 0.1], y[3, 0] = np.nan, np.inf
    of_x, of_y = da.from_array(x, chunks=(90, 2)), da.from_array(y, chunks=(77, 3))
    how = {"paired": paired, "nan_policy": "omit", "groups": {"vw": ["1", "2"]}}
    with ts.errors.collected_warnings() as said:
        found = ts.test_each(of_x, of_y, **how)
    with ts.errors.collected_warnings() as also:
        same_columns(found, ts.test_each(ts.blocks([x]), ts.blocks([y]), **how))
        if few_or_all > 1400:
            same_columns(found, ts.test_each(x, y, **how))
    assert {str(one) for one in said} == {str(one) for one in also} and bool(said) == gaps


@both_schedulers
def test_each_column_of_frames(few_or_all):
    frame = dd.from_pandas(table(), npartitions=7)
    how = {"by": "arm", "groups": ["b", "a"], "drop": ["u"]}
    same_columns(ts.test_each(frame, **how), ts.test_each(blocks(frame), **how))
    x, y = (pd.DataFrame(rows, columns=NAMES) for rows in samples())
    found = ts.test_each(dd.from_pandas(x, npartitions=5), y, columns=["w", "v"])
    same_columns(found, ts.test_each(ts.blocks([x]), ts.blocks([y]), columns=["w", "v"]))
    with pytest.raises(InputError, match=r"x has a missing .*row 3 of block 1, column '0'"):
        rows = x.to_numpy(copy=True)
        rows[93, 0] = np.nan
        ts.test_each(da.from_array(rows, chunks=(90, 3)), y.to_numpy())


def test_each_column_on_the_workers(monkeypatch):
    """A task for each partition, and sums of eight at a time."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", 200)
    collected, joined = [], []
    statistics, merged = tasks.statistics, tasks.merged

    def collect(*arguments):
        collected.append(statistics(*arguments))
        return collected[-1]

    monkeypatch.setattr(tasks, "statistics", collect)
    monkeypatch.setattr(tasks, "merged", lambda found: joined.append(len(found)) or merged(found))
    x, y = samples()
    ts.test_each(da.from_array(x, chunks=(70, 3)), da.from_array(y, chunks=(50, 3)))
    assert sorted((found.n_x, found.n_y) for found in collected) == [(0, 50)] * 10 + [(70, 0)] * 10
    assert sorted(joined) == [3, 4, 8, 8]


def test_log_bf10(few_or_all):
    x, y = samples()
    found = ts.log_bf10(da.from_array(x, chunks=(90, 3)), da.from_array(y, chunks=(77, 3)), [0.5, 2.0])
    np.testing.assert_allclose(found, ts.log_bf10(ts.blocks([x]), ts.blocks([y]), [0.5, 2.0]), rtol=0, atol=1e-9)
    if few_or_all > 1200:
        np.testing.assert_allclose(found, ts.log_bf10(x, y, [0.5, 2.0]), rtol=0, atol=1e-9)


def test_engines_and_functions_that_do_not_fit(monkeypatch):
    x, y = (da.from_array(rows, chunks=(90, 3)) for rows in samples())
    with pytest.raises(InputError, match="engine: a Dask collection is worked on by Dask, not by 'threads'; use"):
        ts.test(x, y, engine="threads")
    assert ts.baselines.mmd(x, y).statistic == ts.baselines.mmd(*samples()).statistic
    with pytest.raises(InputTypeError, match="y is in blocks and the other sample is a Dask collection; make both"):
        ts.test(x, ts.blocks([np.zeros((3, 3))]))
    with pytest.raises(InputTypeError, match=r"x: expected a Dask array or data frame, got Delayed.* of Dask"):
        ts.test(dask.delayed([1.0]), y)
    with pytest.raises(InputError, match="x is empty"):
        ts.test(x[:0], y)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r"the engine dask needs dask; .*twosample\[dask\]"):
        ts.test([1.0, 2.0], [2.0, 3.0], engine="dask")


def test_dask_is_not_imported_for_other_data():
    program = "import sys, twosample as ts; ts.test([1.0, 2.0, 4.0], [2.0, 3.0, 5.0]); assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def run_on_a_cluster(program, folder):
    """Run a program in a process of its own, as the workers are started from its main module."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_a_worker_is_killed(tmp_path):
    """Dask computes again what was lost."""
    pytest.importorskip("distributed")
    program = """
        import os, signal, threading
        import dask, dask.array as da, numpy as np, twosample as ts
        from distributed import Client, LocalCluster
        from twosample.data import pilot

        pilot.PILOT_ROWS = 2000

        def partition(sample, number):
            rng = np.random.default_rng([sample, number])
            return rng.normal(0.05 * sample, 1.0, size=(400, 2))

        def sample(number):
            make = dask.delayed(partition)
            return da.concatenate([da.from_delayed(make(number, k), (400, 2), dtype=float) for k in range(50)])

        if __name__ == "__main__":
            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
                with Client(cluster) as client:
                    first = next(iter(client.run(os.getpid).values()))
                    def kill_half_way():
                        seen = lambda dask_scheduler: sum(
                            task.state in ("memory", "released") and "twosample_statistics" in str(key)
                            for key, task in dask_scheduler.tasks.items()
                        )
                        while client.run_on_scheduler(seen) < 30:
                            pass
                        os.kill(first, signal.SIGKILL)
                        print("killed")
                    killer = threading.Thread(target=kill_half_way, daemon=True)
                    killer.start()
                    found = ts.test(sample(0), sample(1))
                    killer.join(10)
                    assert first not in client.run(os.getpid).values()
            blocks = [ts.blocks([partition(s, k) for k in range(50)]) for s in (0, 1)]
            expected = ts.test(*blocks)
            assert "pilot" in expected.diagnostics.notes[0] and expected.n_x == 20_000
            assert abs(found.log_bf10 - expected.log_bf10) < 1e-9, (found.log_bf10, expected.log_bf10)
            print("same")
    """
    assert run_on_a_cluster(program, tmp_path).split() == ["killed", "same"]


@pytest.mark.slow
def test_data_are_sent_without_a_warning(tmp_path):
    """Dask warns of graphs of more than 10 MB; here there is no other way."""
    pytest.importorskip("distributed")
    program = """
        import numpy as np, twosample as ts, warnings
        from distributed import Client, LocalCluster

        if __name__ == "__main__":
            x, y = np.random.default_rng(0).normal(size=(2, 250_000, 4))
            how = {"lengthscale": "median", "points": 5}
            with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
                with warnings.catch_warnings():
                    warnings.simplefilter("error", UserWarning)
                    found = ts.test(x, y, engine="dask", **how)
            print(abs(found.log_bf10 - ts.test(ts.blocks([x]), ts.blocks([y]), **how).log_bf10) < 1e-9)
    """
    assert run_on_a_cluster(program, tmp_path).split() == ["True"]


@pytest.mark.slow
def test_a_frame_larger_than_the_memory_of_each_worker(tmp_path):
    pytest.importorskip("distributed")
    program = """
        import dask.dataframe as dd, numpy as np, pandas as pd, twosample as ts
        from distributed import Client, LocalCluster

        LIMIT, PARTS, ROWS, COLUMNS = 450e6, 58, 50_000, 20

        def part(number):
            rows = np.random.default_rng(number).normal(size=(ROWS, COLUMNS))
            frame = pd.DataFrame(rows, columns=[f"c{k}" for k in range(COLUMNS)])
            return frame.assign(arm=np.where(np.arange(ROWS) % 2, "a", "b"))

        if __name__ == "__main__":
            for number in range(PARTS):
                part(number).to_parquet(f"{number:03}.parquet")
            assert PARTS * ROWS * COLUMNS * 8 > LIMIT
            with LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
            ) as cluster, Client(cluster):
                frame = dd.read_parquet([f"{number:03}.parquet" for number in range(PARTS)])
                result = ts.test(frame, by="arm", lengthscale="median", points=5)
            assert result.n_x + result.n_y == PARTS * ROWS
            files = ts.blocks([f"{number:03}.parquet" for number in range(PARTS)])
            expected = ts.test(files, by="arm", lengthscale="median", points=5)
            print(abs(result.log_bf10 - expected.log_bf10) < 1e-8)  # rounding of the sums of 2,900,000 rows
    """
    assert run_on_a_cluster(program, tmp_path).split() == ["True"]
