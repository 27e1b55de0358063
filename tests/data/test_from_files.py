"""Tables of files as samples: which cells are asked of, which groups there are; command and app use the same."""

import pytest

from twosample.data.files.table import read_table
from twosample.data.from_files import group_labels, split_table, two_files, who_is_who
from twosample.errors import DroppedDataWarning, InputError

ROWS = b"arm,u,v\np,1,x\nq,2,y\nr,,z\np,3,x\nq,4,y\n"


@pytest.fixture
def table():
    return read_table(("a.csv", ROWS))


def test_of_rows_in_other_groups_nothing_is_asked(table):
    given = split_table(table, ("q", "p"), by="arm", nan_policy="raise")
    assert given.names == ("q", "p") and given.y is None and given.groups == 2
    assert given.choice == {"by": "arm", "groups": ("q", "p")}
    with pytest.raises(InputError, match="line 4, column 'u': the cell is missing"):
        split_table(table, ("q", "r"), by="arm", nan_policy="raise")
    with pytest.warns(DroppedDataWarning, match="line 4"):
        given = split_table(table, ("q", "r"), by="arm", nan_policy="omit")
    assert len(given.notes) == 1


def test_more_than_two_groups_where_there_may_be(table):
    with pytest.raises(InputError, match="3"):
        split_table(table, None, by="arm", columns=["u"], nan_policy="raise")
    with pytest.warns(DroppedDataWarning):
        assert split_table(table, None, by="arm", nan_policy="omit", several=True).groups == 3


def test_only_columns_that_are_compared_are_asked_of(table):
    full = read_table(("b.csv", b"u,w\n1,2\n2,3\n"))
    with pytest.raises(InputError, match=r"leave column 'u' out with drop=\['u'\]"):
        two_files(table, full, ("a", "b"), nan_policy="raise")
    assert two_files(table, full, ("a", "b"), drop=["u"], nan_policy="raise").choice == {"drop": ["u"]}


@pytest.mark.parametrize(
    ("content", "groups"),
    [
        (b"g,u\n2,1\n1,2\n2,3\n", {"2": 2, "1": 1}),
        (b"g,u\n1,1\nnone,2\n1,3\n2,3\n3,1\n", {"1": 2, "none": 1, "2": 1, "3": 1}),
        (b"g,u\nTrue,1\nFalse,2\n,3\n", {"True": 1, "False": 1}),
        (b"g,u\n2020-01-01,1\n2020-01-02,2\n2020-01-01,3\n", {"2020-01-01": 2, "2020-01-02": 1}),
    ],
)
def test_groups_are_those_that_a_split_knows(content, groups):
    table = read_table(("a.csv", content))
    assert group_labels(table, "g") == groups
    names = tuple(groups)[:2]
    assert split_table(table, names, by="g", columns=["u"], nan_policy="raise").names == names


def test_who_is_who():
    assert who_is_who(("a", "b\n")) == "x is 'a', y is 'b\\n'"
    assert who_is_who(("a",)) == "x is 'a'"
