"""What the addresses answer: files in, what is in them, tests, answers; limits, isolation, and pages that are gone."""

import gzip
import json
import threading
import time

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.app import server
from twosample.common.calls import command_line
from twosample.show import report

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def full(page, table):
    """A page with two files."""
    assert page.put("first", table(1), "before.csv").status_code == 201
    assert page.put("second", table(2, shift=0.8), "after.csv").status_code == 201
    return page


def frames(*contents):
    return [pl.read_csv(content) for content in contents]


# ---- files


def test_what_is_in_two_files_is_shown(page, table):
    page.put("first", b"u,v,name,only\n1,2.5,a,1\n2,3.5,b,2\n")
    page.put("second", b"v,u,name\n1.5,2,c\n", "b.csv")
    seen = page.look().json()
    first, second = seen["files"]
    assert (first["name"], first["rows"], first["columns"], first["size"]) == ("a.csv", 2, 4, 34)
    assert (second["name"], second["rows"], second["columns"]) == ("b.csv", 1, 3)
    assert seen["columns"] == [{"name": "u", "kind": "numbers"}, {"name": "v", "kind": "numbers"}]
    assert seen["others"] == [
        {"name": "name", "kind": "text"},
        {"name": "only", "kind": "only in the first file"},
    ]
    assert seen["groupings"] == []


def test_what_one_file_can_be_split_by_is_shown(page):
    page.put("first", b"arm,dose,day,ok,id\np,1.5,1,true,a1\nq,2.5,2,false,a2\np,3.5,1,true,a3\n")
    seen = page.look().json()
    assert seen["groupings"] == [
        {"name": "arm", "groups": [["p", 2], ["q", 1]]},
        {"name": "day", "groups": [["1", 2], ["2", 1]]},
        {"name": "ok", "groups": [["True", 2], ["False", 1]]},
        {"name": "id", "groups": [["a1", 1], ["a2", 1], ["a3", 1]]},
    ]
    assert [column["name"] for column in seen["columns"]] == ["arm", "dose", "day", "ok"]
    assert seen["columns"][0]["kind"] == "categories" and seen["others"] == [{"name": "id", "kind": "text"}]


def test_how_files_are_read_can_be_told(page):
    page.put("first", b"u;v\n1,5;-9\n2,5;3\n")
    assert page.look(decimal=",", delimiter="semicolon").json()["columns"][0] == {"name": "u", "kind": "numbers"}
    refused = page.look(decimal=".", thousands=".")
    assert refused.status_code == 400
    assert refused.json()["message"] == "Thousands sign: cannot be '.', which is the decimal sign"
    assert page.look(header="data").json()["files"][0]["rows"] == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PAR1 is not enough", "cannot be read as a table"),
        (b"u,v\n1,2\n3\n", "line 3"),
        (b"\x1f\x8b broken", "cannot be unpacked"),
        (b"u,v\n", "has no rows"),
    ],
)
def test_bad_files_get_the_message_of_the_reader(full, content, said):
    full.put("second", content, f"{HOSTILE}.csv")
    seen = full.look().json()
    assert said in seen["files"][1]["error"] and HOSTILE in seen["files"][1]["error"]
    assert "error" not in seen["files"][0] and seen["columns"] == []
    ended = full.test()
    assert (ended["state"], ended["message"]) == ("refused", seen["files"][1]["error"])


def test_what_the_reader_warns_of_is_shown(page, tmp_path):
    pl.DataFrame({"u": [1.0, 2.0]}).write_excel(tmp_path / "a.xlsx", worksheet="one")
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        for name in ("one", "two"):
            book.add_worksheet(name).write_column(0, 0, ["u", 1, 2])
    page.put("first", (tmp_path / "b.xlsx").read_bytes(), "b.xlsx")
    (note,) = page.look().json()["files"][0]["notes"]
    assert note.startswith("'b.xlsx' has 2 sheets; the first, 'one', was read")


def test_files_can_be_removed_and_replaced(full, table):
    assert full.client.delete(f"{full.root}/files/first").status_code == 204
    assert full.look().json()["files"][0] is None
    full.put("second", table(3, n=7))
    assert full.look().json()["files"][1]["rows"] == 7
    assert full.put("third", b"u\n1\n").status_code == 404


def test_the_example_is_there_and_differs(page):
    assert page.client.post(f"{page.root}/example").status_code == 204
    assert [file["name"] for file in page.look().json()["files"]] == ["morning.csv", "evening.csv"]
    assert page.test()["headline"].startswith("Very strong evidence of a")


# ---- tests


def test_the_answer_is_that_of_the_library(full, table):
    ended = full.test(permutations="99", prior_odds="0,5")
    assert ended["state"] == "done" and ended["names"] == ["before.csv", "after.csv"]
    expected = ts.test(*frames(table(1), table(2, shift=0.8)), permutations=99, prior_odds=0.5)
    expected = expected.changed(names=("before.csv", "after.csv"))
    assert full.result().headers["content-type"] == "application/json"
    assert full.result().json() == json.loads(expected.to_json())
    assert ended["headline"].lower() == f"{expected.verdict}."
    page = full.report()
    assert page.headers["content-type"].startswith("text/html")
    words = "test before.csv after.csv --prior-odds=0.5 --permutations=99 --report=report.html"
    expected.remember(call=command_line(words.split()), copied=expected)
    assert page.text == report.render(expected, ts.test(
        *frames(table(1), table(2, shift=0.8)), permutations=99, prior_odds=0.5).robustness())  # fmt: skip


def test_one_file_that_a_column_splits(page):
    rows = "".join(f"{'pqr'[i % 3]},{i % 7}.5,{i * i % 11}\n" for i in range(90))
    page.put("first", f"arm,u,v\n{rows}".encode(), "trial.csv")
    ended = page.test(by="arm", groups=["r", "p"], columns=["v"])
    expected = ts.test(pl.read_csv(f"arm,u,v\n{rows}".encode()), by="arm", groups=("r", "p"), columns=["v"])
    assert ended["names"] == ["r", "p"]
    assert page.result().json() == json.loads(expected.to_json())


def test_each_column_by_itself(full, table):
    ended = full.test(test="each", fdr="0.2", rope="0,6", sort="size")
    expected = ts.test_each(*frames(table(1), table(2, shift=0.8)), fdr=0.2, rope=0.6, sort="size")
    assert ended["headline"] == "2 of 2 columns differ at a false discovery rate of 0.2."
    assert full.result().json() == json.loads(expected.to_json())


def test_several_groups_at_once(page):
    rows = "".join(f"{'pqr'[i % 3]},{i % 7 + 9 * (i % 3 == 2)}.5,{i * i % 11}\n" for i in range(90))
    page.put("first", f"arm,u,v\n{rows}".encode(), "trial.csv")
    ended = page.test(by="arm", permutations="19")
    expected = ts.ksample(pl.read_csv(f"arm,u,v\n{rows}".encode()), by="arm", permutations=19)
    assert ended["names"] == ["p", "q", "r"] and ended["headline"].lower() == f"{expected.verdict}."
    assert page.result().json() == json.loads(expected.to_json())
    words = "test trial.csv --permutations=19 --by=arm --report=report.html"
    expected.remember(call=command_line(words.split()), copied=expected)
    assert "p, q | r" in page.report().text and page.report().text == report.render(expected, expected.robustness())
    assert "Rows are pairs: " in page.test(by="arm", paired=True)["message"]


def test_two_sides_of_one_file(page):
    rng = np.random.default_rng(3)
    u, v = rng.normal(size=(2, 80))
    frame = pl.DataFrame({"u": u, "v": v, "w": u + 0.5 * rng.normal(size=80)})
    page.put("first", frame.write_csv().encode(), "both.csv")
    ended = page.test(test="independence", columns=["u", "v"], y=["w"], permutations="19")
    expected = ts.independence(frame, x=["u", "v"], y=["w"], permutations=19)
    assert ended["headline"].lower() == f"{expected.verdict}." and expected.log_bf10 > 3
    assert page.result().json()["log_bf10"] == pytest.approx(expected.log_bf10, rel=1e-12)
    assert "Which columns depend on each other" in page.report().text
    assert page.test(test="independence", columns=["u"])["message"].startswith("Other side: ")
    page.put("second", b"u\n1\n2\n", "more.csv")
    assert "a single file" in page.test(test="independence", columns=["u"], y=["w"])["message"]


def test_one_file_against_a_law(page):
    values = np.random.default_rng(4).normal(1.0, 1.0, 80)
    page.put("first", pl.DataFrame({"u": values}).write_csv().encode(), "one.csv")
    ended = page.test(test="goodness", law="norm(0, 1)", permutations="9")
    expected = ts.goodness(values.tolist(), "norm(0, 1)", simulations=9)
    assert ended["names"] == ["one.csv", expected.law] and ended["state"] == "done"
    assert page.result().json()["log_bf10"] == pytest.approx(expected.log_bf10, rel=1e-12)
    assert page.result().json()["pvalue"] == expected.pvalue
    assert page.test(test="goodness")["message"].startswith("Law: none is given")
    assert "Law: " in page.test(test="goodness", law="nonsense")["message"]


def test_pairs_and_other_models(full, table):
    full.test(paired=True, model="paper", columns=["u"])
    expected = ts.test(*frames(table(1), table(2, shift=0.8)), paired=True, model="paper", columns=["u"])
    assert full.result().json()["log_bf10"] == pytest.approx(expected.log_bf10, rel=1e-12)


@pytest.mark.parametrize("question", ["test", "each"])
def test_pairs_by_a_column_of_names_and_numbers(page, question):
    rng = np.random.default_rng(6)
    x = pl.DataFrame({"id": [f"P{i}" if i == 7 else str(i) for i in range(40)], "u": rng.normal(size=40)})
    y = x.with_columns(pl.col("u") + rng.normal(0.3, 0.2, 40))[rng.permutation(40)]
    page.put("first", x.write_csv().encode(), "before.csv")
    page.put("second", y.write_csv().encode(), "after.csv")
    assert page.test(test=question, paired="id")["state"] == "done"
    expected = (ts.test if question == "test" else ts.test_each)(x, y, paired="id")
    assert page.result().json()["log_bf10"] == pytest.approx(json.loads(expected.to_json())["log_bf10"], rel=1e-12)
    refused = page.test(test=question, paired=True, columns=["u"])["message"]
    assert "row 0 of x is" in refused and "“Rows are pairs: by column id”" in refused and "x is 'before.csv'" in refused


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"prior_odds": "-1"}, "Prior odds: "),
        ({"prior_odds": "many"}, "Prior odds: must be a number, not 'many'"),
        ({"permutations": "1.5"}, "Permutations: must be a whole number"),
        ({"permutations": "9", "model": "paper"}, "use “Model: adaptive”"),
        ({"columns": ["w"]}, "'w'"),
        ({"columns": []}, "Columns: "),
        ({"test": "each", "fdr": "7"}, "False discovery rate: "),
        ({"model": "<b>"}, "Model: must be one of adaptive, paper, published"),
        ({"by": "u", "groups": ["1", "2"]}, ""),
    ],
)
def test_the_validator_speaks_the_words_of_the_form(full, question, said):
    if "by" in question:
        full.client.delete(f"{full.root}/files/second")
        said = "'1'"
    answer = full.start(**question)
    message = answer.json()["message"] if answer.status_code == 400 else full.ended()["message"]
    assert said in message
    assert "Traceback" not in message and "--" not in message


def test_a_bad_cell_is_named_with_what_to_do(full, table):
    full.put("second", table(2) + b"1.5,nd\n", "after.csv")
    ended = full.test()
    assert ended["state"] == "refused"
    assert ended["message"] == (
        "'after.csv', line 42, column 'v': 'nd' is not a number; fix the cell; or read it as missing with “More words "
        "for missing: nd” and pass “Missing values: leave out”, or leave column 'v' out with “Columns: without v”"
    )
    ended = full.test(nan_policy="omit", reading={"missing": "nd"})
    assert ended["state"] == "done"
    assert "'after.csv': left out 1 cell that is missing: line 42, column 'v' (missing)." in ended["notes"]
    assert "left out 1 cell that is missing" in full.report().text
    assert full.test(columns=["u"])["notes"] == []


def test_one_file_without_a_column_is_not_enough(page, table):
    for files in range(2):
        assert page.test()["message"] == "choose two files, or one file and a grouping column"
        if not files:
            page.put("first", table(1))


def test_names_are_data(page, table):
    name = f"{HOSTILE}{'x' * 500}"
    page.put("first", table(1, (HOSTILE, "v")), name)
    page.put("second", table(2, (HOSTILE, "v")), name)
    ended = page.test()
    assert ended["names"] == [f"{name[:200]} (first)", f"{name[:200]} (second)"]
    assert HOSTILE not in page.report().text
    assert HOSTILE in page.result().json()["columns"]


def test_a_fault_of_the_program_is_said_and_not_hidden(full, monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("a fault")

    monkeypatch.setattr("twosample.questions.two_samples.test", broken)
    ended = full.test()
    assert (ended["state"], ended["message"].split(": ", 1)[1]) == ("failed", "RuntimeError: a fault")
    monkeypatch.setattr(server, "look", broken)
    answer = full.look()
    assert answer.status_code == 500 and answer.json()["message"].endswith("RuntimeError: a fault")


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"7", b'"x"'])
def test_requests_that_are_not_those_of_the_page(full, body):
    assert full.client.post(f"{full.root}/test", content=body).status_code == 400
    assert full.client.post(f"{full.root}/look", content=b" " * 5_000_000).status_code == 413


def test_before_a_test_there_is_nothing(full):
    for answer in (full.report(), full.result(), full.client.get(f"{full.root}/test")):
        assert answer.status_code == 404


# ---- long tests


@pytest.fixture
def slow(monkeypatch):
    """Make tests last until they are told to go on; counts those that have begun and ended."""

    class Slow:
        go, begun, ended = threading.Event(), [], []

    def test(x, y, *, progress, **options):
        Slow.begun.append(1)
        try:
            while not Slow.go.wait(0.01):
                progress(0.25)
            raise ts.errors.InputError("it was let go")
        finally:
            Slow.ended.append(1)

    Slow.go, Slow.begun, Slow.ended = threading.Event(), [], []
    monkeypatch.setattr("twosample.questions.two_samples.test", test)
    yield Slow
    Slow.go.set()


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_progress_is_shown_and_cancelling_ends_the_work(full, slow):
    full.start()
    until(lambda: full.state()["share"] == 0.25)
    assert (full.state()["state"], full.state()["words"]) == ("running", "Testing")
    assert full.start().status_code == 409
    begun = time.monotonic()
    assert full.client.delete(f"{full.root}/test").status_code == 204
    assert full.state()["state"] == "cancelled"
    until(lambda: slow.ended)
    assert time.monotonic() - begun < 2.0
    assert full.report().status_code == 404
    assert full.start().status_code == 202


def test_a_real_test_is_cancelled_promptly(page, table):
    """Of a test that takes minutes."""
    page.put("first", table(1, n=3000))
    page.put("second", table(2, n=3000))
    page.start(permutations="100000")
    until(lambda: page.state()["share"] > 0.0, 60.0)
    page.client.delete(f"{page.root}/test")
    until(lambda: not [one for one in threading.enumerate() if _is_busy(one)], 5.0)


def _is_busy(thread):
    """Whether a thread of the jobs is at work in the library."""
    import sys

    frame = sys._current_frames().get(thread.ident)
    while thread.name.startswith("test_") and frame is not None:
        if frame.f_code.co_filename.endswith("relabelling.py"):
            return True
        frame = frame.f_back
    return False


def test_others_wait_and_are_told_their_place(full, slow, client, table, monkeypatch):
    Page = type(full)
    pages = [Page(client) for _ in range(server.cores() + 2)]
    for page in pages:
        page.put("first", table(1))
        page.put("second", table(2))
        page.start()
    until(lambda: len(slow.begun) == server.cores())
    waiting = [page.state() for page in pages if page.state()["state"] == "waiting"]
    assert [said["place"] for said in waiting] == [0, 1]
    pages[-2].client.delete(f"{pages[-2].root}/test")
    assert pages[-1].state()["place"] == 0
    slow.go.set()
    assert pages[-1].ended()["message"] == "it was let go"
    assert pages[-2].state()["state"] == "cancelled"
    assert len(slow.begun) == server.cores() + 1
    for page in pages:
        page.close()


def test_a_page_that_closes_ends_its_test(full, slow):
    full.start()
    until(lambda: slow.begun)
    assert full.close().status_code == 204
    until(lambda: slow.ended)
    assert full.client.get(f"{full.root}/test").status_code == 410


def test_other_requests_are_answered_meanwhile(full, slow, monkeypatch):
    """Reading a file, too, is done in a thread."""
    entered, go = threading.Event(), threading.Event()

    def slow_look(*args):
        entered.set()
        go.wait(20)
        return {}

    monkeypatch.setattr(server, "look", slow_look)
    full.start()
    with full.client.stream("GET", f"{full.root}/test"):
        pass
    thread = threading.Thread(target=full.look)
    thread.start()
    assert entered.wait(10)
    begun = time.monotonic()
    assert full.client.get(f"{full.root}/test").json()["state"] == "running"
    assert time.monotonic() - begun < 2.0
    go.set()
    thread.join()


# ---- isolation


def test_pages_do_not_see_each_other(full, another, table):
    full.test(columns=["u"])
    assert another.look().json()["files"] == [None, None]
    assert another.report().status_code == another.result().status_code == 404
    assert another.session != full.session and len(another.session) >= 32
    guessed = full.root.replace(full.session, full.session[:-1] + ("a" if full.session[-1] != "a" else "b"))
    for path in ("report", "result", "test"):
        assert full.client.get(f"{guessed}/{path}").status_code == 410


def test_warnings_of_one_are_not_those_of_another(full, another, table, monkeypatch):
    """Both run at the same time; one has a column of text, and one copied rows."""
    if server.cores() < 2:
        pytest.skip("needs two cores")
    together, real = threading.Barrier(2), ts.test

    def test(*args, **options):
        together.wait(20)
        result = real(*args, **options)
        together.wait(20)
        return result

    monkeypatch.setattr("twosample.questions.two_samples.test", test)
    full.put("first", b"u,note\n" + b"".join(b"%d.5,text %d\n" % (i * i % 23, i) for i in range(40)))
    full.put("second", b"u,note\n" + b"".join(b"%d.25,text %d\n" % (i * i % 19, i + 40) for i in range(40)))
    same = table(5)
    another.put("first", same + same.split(b"\n", 1)[1])
    another.put("second", table(6))
    for page in (full, another):
        assert page.start().status_code == 202
    texts, copies = full.ended()["notes"], another.ended()["notes"]
    assert any("do not hold numbers or categories: 'note'" in note for note in texts)
    assert not any("repeat" in note or "cop" in note for note in texts)
    assert copies and not any("note" in note for note in copies)


# ---- limits, and pages that are gone


def test_a_file_that_is_too_large_is_refused_with_the_limit(app_with):
    with app_with(max_size=0.01) as page:
        for content in (b"1\n" * 5001, iter([b"1\n" * 3000] * 2)):  # announced, and not
            answer = page.put("first", content)
            assert answer.status_code == 413
            assert answer.json()["message"] == (
                "the file is larger than 0.01 MB; raise the limit by starting the app with --max-size, or use the "
                "command 'twosample test', which has none"
            )
        assert page.look().json()["files"] == [None, None]
        assert page.put("first", b"1\n" * 5000).status_code == 201
        waits = page.client.put(f"{page.root}/files/first", content=b"1\n" * 5001, headers={"Expect": "100-continue"})
        assert waits.status_code == 413


def test_a_file_that_unpacks_to_too_much_is_refused(app_with):
    """However the page asks for more: what it says of the limit is not heard."""
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    with app_with(unpacked_limit=0.01) as page:
        assert page.put("first", bomb).status_code == 201
        answer = page.client.post(f"{page.root}/look", json={"reading": {"unpacked_limit": "100"}})
        [about, _] = answer.json()["files"]
        assert "unpacks to more than 0.01 MB, which is the limit" in about["error"]


def test_the_limit_of_what_files_unpack_to_is_a_share_of_the_free_memory(app_with, monkeypatch):
    monkeypatch.setattr("twosample.app.server.available_memory", lambda: 400_000_000)
    with app_with() as page:
        page.put("first", gzip.compress(b"a\n" + b"1\n" * 51_000_000))
        [about, _] = page.look().json()["files"]
        assert "unpacks to more than 100 MB, which is the limit" in about["error"]


def test_all_pages_together_have_a_limit(app_with):
    with app_with(max_size=0.01) as page:
        Page, pages = type(page), [page]
        for _ in range(5):
            pages.append(Page(page.client))
        for one in pages[:5]:
            for slot in ("first", "second"):
                assert one.put(slot, b"1\n" * 5000).status_code == 201
        refused = pages[5].put("first", b"1\n")
        assert refused.status_code == 507
        assert refused.json()["message"].startswith("all opened pages together hold as much as they may (0 MB)")
        pages[0].close()
        assert pages[5].put("first", b"1\n" * 5000).status_code == 201


def test_an_upload_that_breaks_off_leaves_no_trace(app_with):
    """Its room is free again: afterwards, as much as before fits."""
    with app_with(max_size=0.01) as page:

        def broken():
            yield b"1\n" * 4000
            raise ConnectionError

        for _ in range(15):
            with pytest.raises(ConnectionError):
                page.client.put(f"{page.root}/files/first", content=broken())
        until(lambda: page.put("first", b"1\n" * 5000).status_code == 201)
        assert page.look().json()["files"][0]["size"] == 10_000


def test_pages_that_are_not_used_are_dropped(app_with, table):
    with app_with(idle=0.3) as page:
        page.put("first", table(1))
        for _ in range(5):
            time.sleep(0.1)
            assert page.look().status_code == 200
        time.sleep(0.5)
        gone = page.look()
        assert gone.status_code == 410
        assert "not used for 30 minutes" in gone.json()["message"]


def test_pages_that_are_not_used_are_dropped_without_any_request(app_with, table, monkeypatch):
    monkeypatch.setattr(server, "_LOOKED_AFTER_SECONDS", 0.05)
    dropped = []
    real = server.Sessions.drop
    monkeypatch.setattr(server.Sessions, "drop", lambda self, one: (dropped.append(one), real(self, one))[1])
    with app_with(idle=0.2) as page:
        until(lambda: dropped == [page.session])
