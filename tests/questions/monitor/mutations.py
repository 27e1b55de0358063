"""Files of monitors that something or somebody has changed; run as a program, it loads many and goes on with them.

Memory is limited to 1 GB more than there is at the start. It prints what came of it, as JSON.
"""

import json
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import twosample as ts
from twosample.common.stored import packed
from twosample.data.files.bookmark import Bookmark
from twosample.errors import InputError

LIMIT, SECONDS = 1 << 30, 5.0
# Values for any field.
ODD = [
    None, True, False, -1, 0, 1, 2, 3.5, 1e308, -1e308, 1e-308, float("nan"), float("inf"), 2**31, 2**63, 10**400, "",
    "5", "x" * 10_000, "rbf * rbf", [], {}, [1, 2], ["u", "v"], [[[]]], [None], {"a": 1}, "\0", [0] * 1000,
]  # fmt: skip
CHANGES = [
    lambda a: a[:-1], lambda a: a[::-1], lambda a: np.concatenate([a, a]), lambda a: a.astype(np.float32),
    lambda a: a.astype(complex), lambda a: a.astype(str), lambda a: a > 0, lambda a: a.T, lambda a: a.ravel(),
    lambda a: a[None], lambda a: a * np.nan, lambda a: a * 1e308, lambda a: -a, lambda a: a + 1.0, lambda a: a * 0.0,
    lambda a: np.zeros(0), lambda a: np.array(3), lambda a: np.zeros((0, 10**6)), lambda a: a * (1 + 1e-6),
]  # fmt: skip


def monitors():
    """A monitor with a reference and a young plan, one with a window and a settled plan, and a batch for each."""
    rng = np.random.default_rng(6)
    one = ts.Monitor(reference=rng.normal(size=(200, 2)), points=4, permutations=9)
    for _ in range(3):
        one.update(rng.normal(size=(20, 2)))
    one.update(rng.normal(size=(1, 2)))
    one.mark(Bookmark("b.csv", 1, 2, 61, "0" * 64))
    two = ts.Monitor(points=4, permutations=9, window=3, forget=0.1, subsets=[("0",), (0, 1)])
    for _ in range(9):
        two.update(rng.normal(size=(30, 2)), rng.normal(size=(25, 2)))
    return (one, (rng.normal(size=(20, 2)),)), (two, (rng.normal(size=(20, 2)), rng.normal(size=(20, 2))))


def arrays_of(monitor):
    with tempfile.TemporaryDirectory() as folder:
        monitor.save(Path(folder, "m.npz"))
        return dict(np.load(Path(folder, "m.npz")))


def stored_monitor():
    return arrays_of(monitors()[0][0])


def content(arrays, changed):
    """A file of these arrays and changed words, with the right checksum."""
    words = json.loads(str(arrays["monitor"]))
    for name, value in changed.items():
        *folders, last = name.split(".")
        inner = words
        for folder in folders:
            inner = inner[folder]
        inner[last] = value
    arrays = {name: array for name, array in arrays.items() if name != "checksum"} | {"monitor": json.dumps(words)}
    return packed({name: np.asarray(array) for name, array in arrays.items()})


def write(path, arrays, changed):
    path.write_bytes(content(arrays, changed))


def damaged(chance, whole):
    """The file with some bytes changed, left out, doubled or put in."""
    first = chance.randrange(len(whole))
    last = min(len(whole), first + chance.choice([1, 1, 4, 100, 5000]))
    return whole[:first] + chance.choice([
        bytes(chance.randrange(256) for _ in range(last - first)), b"", whole[first:last] * 2, b"\xff" * (last - first),
        bytes([whole[first] ^ 1 << chance.randrange(8)]) + whole[first + 1 : last],
    ]) + whole[last:]  # fmt: skip


def changed_file(chance, arrays):
    """A file that is changed in some way, and whether it must be as it was if it is loaded."""
    kind = chance.choice(["bytes", "word", "array", "lacks"])
    if kind == "bytes":
        return damaged(chance, content(arrays, {})), True
    if kind == "word":
        words = json.loads(str(arrays["monitor"]))
        names = [name for name in words if name not in ("plan", "settings")]
        names += [f"settings.{name}" for name in words["settings"]] * 2
        names += [f"bookmark.{name}" for name in words["bookmark"] or ()]
        return content(arrays, {chance.choice(names): chance.choice(ODD)}), False
    name = chance.choice([name for name in arrays if not name.startswith(("statistics", "monitor", "checksum"))])
    if kind == "lacks":
        return content({other: array for other, array in arrays.items() if other != name}, {}), False
    try:
        return content({**arrays, name: chance.choice(CHANGES)(arrays[name])}, {}), False
    except (ValueError, TypeError, IndexError):  # this change is for other arrays
        return changed_file(chance, arrays)


def main(number):
    import resource

    warnings.simplefilter("ignore")
    cases = [(arrays_of(monitor), batch, monitor.update(*batch).to_dict()) for monitor, batch in monitors()]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + LIMIT,) * 2)
    told = {"tried": 0, "refused": 0, "went_on": 0, "foreign": [], "slow": [], "differing": []}
    for seed in range(number):
        chance = random.Random(seed)
        arrays, batch, expected = chance.choice(cases)
        file, same = changed_file(chance, arrays)
        path = Path(tempfile.gettempdir(), f"twosample-{seed}.npz")
        path.write_bytes(file)
        began = time.monotonic()
        try:
            found = ts.Monitor.load(path).update(*batch).to_dict()
            told["went_on"] += 1
            if (same and found != expected) or not np.isfinite(found["log_evalue"]):
                told["differing"].append(seed)
        except InputError:
            told["refused"] += 1
        except Exception as error:
            told["foreign"].append((seed, repr(error)))
        finally:
            path.unlink()
        if time.monotonic() - began > SECONDS:
            told["slow"].append(seed)
        told["tried"] += 1
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]))
