import gzip

import pytest

from twosample.data.files.dialect import Reading
from twosample.data.files.strings import read_strings
from twosample.errors import InputError, ReadingWarning


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_string_a_line(end):
    assert read_strings(("a.txt", f"one, two{end} three{end}".encode())) == ["one, two", " three"]
    assert read_strings(("a.log", f"one{end}two".encode())) == ["one", "two"]


def test_one_string_a_record_of_fasta(tmp_path):
    content = b">one description\nGAT\nTA CA\n\n>two\nGG\n"
    for name in ("a.fa", "a.FASTA", "a.fna"):
        assert read_strings((name, content)) == ["GATTACA", "GG"]
    assert read_strings(("a.txt", b">one\nGAT\n")) == [">one", "GAT"]
    path = tmp_path / "b.fa.gz"
    path.write_bytes(gzip.compress(content))
    assert read_strings(path) == ["GATTACA", "GG"]


def test_what_is_left_out_is_said():
    with pytest.warns(ReadingWarning, match="'a.txt' has 2 blank lines, left out"):
        assert read_strings(("a.txt", b"one\n\n  \ntwo\n")) == ["one", "two"]
    with pytest.warns(ReadingWarning, match="'a.fa' has 1 record without a sequence, left out"):
        assert read_strings(("a.fa", b">one\n>two\nGG\n")) == ["GG"]
    assert read_strings(("a.txt", b"# said\none\n"), Reading(comment="#")) == ["one"]


def test_encodings():
    assert read_strings(("a.txt", "é\nü\n".encode("utf-16"))) == ["é", "ü"]
    assert read_strings(("a.txt", "é\n".encode("latin-1")), Reading(encoding="latin-1")) == ["é"]


def test_refusals(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_strings(tmp_path / "none.txt")
    for content in (b"", b"\n \n"):
        with pytest.raises(InputError, match=r"'a.txt' is empty"):
            read_strings(("a.txt", content))
    with pytest.raises(InputError, match=r"'a.fa' is not FASTA: line 1 comes before"):
        read_strings(("a.fa", b"GATTACA\n"))
    with pytest.raises(InputError, match="NUL byte"):
        read_strings(("a.txt", b"a\0b\n"))
