"""Sessions: unguessable, counted, and dropped when nobody asks for them."""

import pytest

from twosample.app import sessions
from twosample.app.sessions import FullError, Sessions
from twosample.app.work import Upload


def test_identities_are_long_and_all_different():
    some = Sessions(1000, 60.0)
    identities = {some.new().identity for _ in range(100)}
    assert len(identities) == 100 and min(map(len, identities)) >= 32


def test_idle_ones_are_told_by_the_time_of_their_last_use():
    now = [0.0]
    some = Sessions(1000, 60.0, lambda: now[0])
    first, second = some.new(), some.new()
    now[0] = 50.0
    assert some.find(first.identity) is first
    now[0] = 70.0
    assert some.idle() == [second.identity]
    assert some.drop(second.identity) is second and some.drop(second.identity) is None
    assert some.find(second.identity) is None and len(some) == 1


def test_bytes_are_counted_once():
    some = Sessions(100, 60.0)
    session = some.new()
    some.reserve(60)
    with pytest.raises(FullError, match="hold as much as they may"):
        some.reserve(50)
    session.uploads["first"] = Upload("a", bytes(60))
    some.release(60)
    some.reserve(40)
    some.release(40)
    with pytest.raises(FullError):
        some.reserve(41)
    some.drop(session.identity)
    some.reserve(100)


def test_there_are_not_more_pages_than_that(monkeypatch):
    monkeypatch.setattr(sessions, "_MOST_SESSIONS", 3)
    some = Sessions(100, 60.0)
    for _ in range(3):
        one = some.new()
    with pytest.raises(FullError, match="3 pages are open"):
        some.new()
    some.drop(one.identity)
    some.new()
