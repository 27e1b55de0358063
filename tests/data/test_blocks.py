"""Data in blocks: what is taken as blocks, and that their rows come in order, a few at a time, as often as asked."""

import mmap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import twosample as ts
from twosample.data import blocks as module
from twosample.data.blocks import as_blocks, whole
from twosample.errors import InputError, InputTypeError


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 7)


def rows_of(source):
    """All rows of a source, and the number of rows of each piece."""
    pieces = [np.asarray(piece.values) for piece in source.pieces()]
    return np.concatenate(pieces), [len(piece) for piece in pieces]


ROWS = np.arange(40.0).reshape(20, 2)


def test_a_function_is_called_for_each_pass():
    calls = []

    def make():
        calls.append(1)
        yield ROWS[:5]
        yield ROWS[5:]

    source = ts.blocks(make)
    assert isinstance(source, ts.Blocks) and not calls
    for passes in (1, 2):
        np.testing.assert_array_equal(rows_of(source)[0], ROWS)
        assert len(calls) == passes


def test_long_arrays_come_in_pieces_and_empty_blocks_not_at_all():
    rows, sizes = rows_of(ts.blocks([ROWS[:0], ROWS[:9], ROWS[9:9], ROWS[9:]]))
    np.testing.assert_array_equal(rows, ROWS)
    assert sizes == [7, 2, 7, 4]


def test_pieces_know_their_place_in_the_block():
    places = [(piece.number, piece.first) for piece in ts.blocks([ROWS[:9], ROWS[:0], ROWS[9:]]).pieces()]
    assert places == [(0, 0), (0, 7), (2, 0), (2, 7)]


@pytest.mark.parametrize("make", [lambda: (block for block in [ROWS]), lambda: iter([ROWS]), lambda: map(abs, [ROWS])])
def test_what_can_be_read_only_once_is_refused(make):
    with pytest.raises(InputTypeError, match=r"can be read only once.*blocks\(lambda") as caught:
        ts.blocks(make())
    assert caught.value.argument == "source"


def test_nothing_is_refused():
    with pytest.raises(InputError, match="no blocks"):
        ts.blocks([])


@pytest.mark.parametrize("source", [ROWS, 3.0, {"a": 1}, None, pl.DataFrame({"a": [1]})], ids=type)
def test_other_things_are_refused(source):
    with pytest.raises(InputTypeError, match="expected a function that returns blocks, or a list"):
        ts.blocks(source)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "?", "M8[D]"])
def test_memory_maps_of_any_type_are_read_in_pieces(tmp_path, dtype):
    np.save(tmp_path / "rows.npy", (ROWS % 9).astype(dtype))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    rows, sizes = rows_of(as_blocks(mapped))
    np.testing.assert_array_equal(rows, (ROWS % 9).astype(dtype))
    assert sizes == [7, 7, 6]


def test_slices_and_shapes_of_memory_maps_are_memory_maps_too(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for view, expected in (
        (mapped[3:], ROWS[3:]),
        (mapped[:, 0], ROWS[:, 0]),
        (mapped.reshape(10, 4), ROWS.reshape(10, 4)),
        (np.asarray(mapped)[::2], ROWS[::2]),
    ):
        rows, sizes = rows_of(as_blocks(view))
        np.testing.assert_array_equal(rows, expected)
        assert max(sizes) <= 7
    assert as_blocks(mapped[[1, 2]]) is None  # a copy, in memory


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="pages are let go where the system can")
def test_what_was_written_to_a_private_copy_is_not_lost(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    for mode in ("c", "r+"):
        mapped = np.load(tmp_path / "rows.npy", mmap_mode=mode)
        mapped[0, 0], mapped[19, 1] = -1.0, -2.0
        rows, _ = rows_of(as_blocks(mapped))
        assert (rows[0, 0], rows[19, 1], mapped[0, 0], mapped[19, 1]) == (-1.0, -2.0, -1.0, -2.0)


FRAME = pl.DataFrame({"u": np.arange(20.0), "v": np.arange(20.0) ** 2})


def test_lazy_frames_are_read_in_batches():
    rows, sizes = rows_of(as_blocks(FRAME.lazy().filter(pl.col("u") >= 2)))
    np.testing.assert_array_equal(rows, FRAME.to_numpy()[2:])
    assert len(sizes) > 1


def test_lazy_frames_are_sliced_where_polars_has_no_batches():
    class Old:
        """A lazy frame of a polars that has no `collect_batches`."""

        def __init__(self, frame):
            self._frame = frame

        def __getattr__(self, name):
            if name == "collect_batches":
                raise AttributeError(name)
            return getattr(self._frame, name)

    pieces = list(module._of_lazy_frame(Old(FRAME.lazy())))
    assert [piece.height for piece in pieces] == [7, 7, 6]
    assert pl.concat(pieces).equals(FRAME)


def test_arrow_datasets_and_batches(tmp_path):
    FRAME[:9].write_parquet(tmp_path / "a.parquet")
    FRAME[9:].write_parquet(tmp_path / "b.parquet")
    rows, sizes = rows_of(as_blocks(pa.dataset.dataset(tmp_path)))
    np.testing.assert_array_equal(rows, FRAME.to_numpy())
    assert max(sizes) <= 7
    [piece] = ts.blocks([pa.RecordBatch.from_pydict({"u": [1.0, 2.0]})]).pieces()
    assert isinstance(piece.values, pa.Table)


def test_paths_of_files_folders_and_patterns(tmp_path):
    (tmp_path / "parts").mkdir()
    FRAME[:9].write_parquet(tmp_path / "parts" / "a.parquet")
    FRAME[9:].write_parquet(tmp_path / "parts" / "b.parquet")
    FRAME.write_csv(tmp_path / "all.csv")
    FRAME.write_parquet(tmp_path / "all.parquet")
    for source in (
        tmp_path / "parts",
        str(tmp_path / "parts" / "*.parquet"),
        [tmp_path / "parts" / "a.parquet", str(tmp_path / "parts" / "b.parquet")],
        tmp_path / "all.csv",
        tmp_path / "all.parquet",
    ):
        np.testing.assert_array_equal(rows_of(ts.blocks(source))[0], FRAME.to_numpy())


def test_blocks_may_be_lazy_themselves(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    source = ts.blocks([np.load(tmp_path / "rows.npy", mmap_mode="r"), pl.LazyFrame(ROWS), ts.blocks([ROWS[:3]])])
    rows, _ = rows_of(source)
    np.testing.assert_array_equal(rows, np.concatenate([ROWS, ROWS, ROWS[:3]]))
    places = [(piece.number, piece.first) for piece in source.pieces()]
    assert places[:3] == [(0, 0), (0, 7), (0, 14)] and places[-1] == (2, 0)


@pytest.mark.parametrize("values", [ROWS, [1.0], pd.DataFrame(ROWS), pl.DataFrame(ROWS), "a.parquet", None], ids=type)
def test_what_is_in_memory_is_no_blocks(values):
    assert as_blocks(values) is None


def test_what_needs_all_rows_reads_them_up_to_a_limit(monkeypatch):
    for kind in (lambda rows: rows, pl.DataFrame, pd.DataFrame):
        joined = whole(ts.blocks([kind(ROWS[:5]), kind(ROWS[5:])]), "x")
        np.testing.assert_array_equal(np.asarray(joined), ROWS)
    monkeypatch.setattr("twosample.data.blocks._MOST_VALUES_WHOLE", ROWS.size - 1)
    with pytest.raises(InputError, match=r"^x has more than .* values, and this question needs all rows in memory"):
        ts.baselines.mmd(ts.blocks([ROWS]), ROWS)
