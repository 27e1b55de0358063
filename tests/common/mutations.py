"""Mutations of stored files: each is refused by an error of ours, or read as what was written, or as something valid.

Run as a program, under a memory limit: ``python tests/common/mutations.py KIND COUNT``.
"""

import io
import json
import resource
import sys
import time
import warnings
from collections import Counter

import numpy as np

import twosample as ts
from twosample.common.stored import array_checksum
from twosample.errors import InputError, InputTypeError
from twosample.plan import Plan
from twosample.results.robustness import Robustness

MEMORY = 1 << 30
SECONDS = 5.0
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(0.5, 1.0, size=(15, 2))


def words(seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ab"), 6)) for _ in range(14)]


PLAN = ts.plan(X, Y, points=4)
RESULTS = {
    "test": lambda: ts.test(X, Y, points=4, keep_rows=True),
    "pairs": lambda: ts.test(X[:, 0], Y[:12, 0], paired=True, points=4, permutations=9),
    "objects": lambda: ts.test(words(0), words(1), kernel="kmer"),
    "each": lambda: ts.test_each(X, Y),
    "ksample": lambda: ts.ksample([X, Y, X + 1.0], points=4),
    "groups": lambda: ts.ksample({"a": X, "b": Y, "c": X + 1.0}, points=4, reference="a"),
    "goodness": lambda: ts.goodness(X[:, 0], "norm(0, 1)", points=4),
    "independence": lambda: ts.independence(X[:, 0], X[:, 1]),
    "mmd": lambda: ts.baselines.mmd(X, Y, permutations=9),
    "holmes": lambda: ts.baselines.holmes(X[:, 0], Y[:, 0]),
    "robustness": lambda: ts.test(X, Y, points=4).robustness(),
    "plan": lambda: PLAN,
}
ARRAYS = ("statistics", "reference")
KINDS = (*RESULTS, *ARRAYS)

HOSTILE = [
    None, True, False, 0, 1, -1, -5, 2, 0.5, -0.5, 1e308, -1e308, 5e-324, 2**53 + 1, 10**30, "", "a", "1", "\ud800", [],
    {}, [[]], [None], [1, "a"], [True], {"a": 1}, [[1.0], [2.0, 3.0]], [[[1.0]]], -0.0, 1e-300, [1e308, -1e308],
]  # fmt: skip
HOSTILE_TEXTS = [
    "NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "[" * 20000, '{"a":' * 20000, '{"a": 1, "a": 2}',
    "[" + "0," * 20000 + "0]", '"\\ud800"', "01", "1.", ".5",
]  # fmt: skip


def spans(value, text, found, path=()):
    """Append a content of JSON to the pieces of a text; `found` gets the path, the ends and the value of each part."""
    start = text.length
    if isinstance(value, dict | list):
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        text.add("{" if isinstance(value, dict) else "[")
        for number, (key, inner) in enumerate(pairs):
            text.add(", " * bool(number) + (f"{json.dumps(key)}: " if isinstance(value, dict) else ""))
            spans(inner, text, found, (*path, key))
        text.add("}" if isinstance(value, dict) else "]")
    else:
        text.add(json.dumps(value))
    found.append((path, start, text.length, value))


class Text(list):
    """Pieces of a text, and how long it is."""

    length = 0

    def add(self, piece):
        self.append(piece)
        self.length += len(piece)


def mutate_value(rng, old):
    """Another value: of another type, sign, size or number."""
    action = rng.integers(4)
    if action == 0 and isinstance(old, list) and old:
        return old[:-1] if rng.random() < 0.5 else [*old, old[0]]
    if action == 1 and isinstance(old, dict) and old:
        left_out = list(old)[rng.integers(len(old))]
        return {name: value for name, value in old.items() if name != left_out}
    if action <= 2 and isinstance(old, int | float):
        large = old * 1e300 if isinstance(old, float) else old * 10**6
        return [-old, 2 * old, old + 1, large][rng.integers(4)]
    return HOSTILE[rng.integers(len(HOSTILE))]


def mutate_json(rng, text, parts):
    """A mutated text, and whether its checksum is still there to tell."""
    action = rng.integers(4)
    if action == 0:
        changed = mutate_bytes(rng, text.encode()).decode("latin-1")
        return changed, '"checksum"' in changed
    _, start, end, old = parts[rng.integers(len(parts))]
    if action == 1:
        start = int(rng.integers(len(text))) if rng.random() < 0.5 else start
        value = HOSTILE_TEXTS[rng.integers(len(HOSTILE_TEXTS))]
    else:
        value = json.dumps(mutate_value(rng, old))
    changed = text[:start] + value + text[end:]
    if action == 2:
        return changed, '"checksum"' in changed
    place = changed.find(', "checksum"')
    return (changed if place < 0 else changed[:place] + "}"), False


def mutate_bytes(rng, content):
    """Flip, drop, repeat or cut bytes."""
    changed = bytearray(content)
    start = int(rng.integers(len(changed)))
    action = rng.integers(5)
    if action == 0:
        del changed[start:]
    elif action == 1:
        del changed[start : start + int(rng.integers(1, 40))]
    elif action == 2:
        changed[start:start] = changed[start : start + int(rng.integers(1, 40))]
    else:
        for place in rng.integers(len(changed), size=int(rng.integers(1, 4))):
            changed[place] ^= 1 + int(rng.integers(255))
    return bytes(changed)


def mutate_arrays(rng, arrays):
    """Mutated arrays, and whether their checksum says so."""
    changed = dict(arrays)
    names = sorted(set(changed) - {"checksum"})
    name = names[rng.integers(len(names))]
    old = changed[name]
    action = rng.integers(8)
    if action == 0:
        del changed[name]
    elif action == 1:
        kinds = [np.float32, np.int64, bool, "U3", ">f8"] if old.dtype.kind in "fiu" else [old.dtype]
        changed[name] = old.astype(kinds[rng.integers(len(kinds))])
    elif action == 2 and old.ndim:
        changed[name] = old[:-1] if rng.random() < 0.5 else np.concatenate([old, old[:1]])
    elif action == 3 and old.ndim:
        changed[name] = [old[..., None], old.ravel(), np.swapaxes(old, 0, -1), old[None]][rng.integers(4)]
    elif action == 4:
        changed[name] = np.array([0, -1, 7, np.nan, np.inf, 1e300][rng.integers(6)])
    elif old.dtype.kind == "U":
        text, found = Text(), []
        spans(json.loads(str(old)), text, found)
        changed[name] = np.array(mutate_json(rng, "".join(text), found)[0].replace("\0", ""))
    elif old.size:
        flat = old.copy().reshape(-1)
        value = [0, -1, np.nan, np.inf, -np.inf, 1e300, 1e-300, 2.0][rng.integers(8)]
        with np.errstate(all="ignore"):
            if rng.random() < 0.5 and old.dtype.kind == "f":
                flat = flat * value
            elif old.dtype.kind == "f":
                flat[rng.integers(flat.size)] = value
            else:
                flat[rng.integers(flat.size)] = 5
        changed[name] = flat.reshape(old.shape)
    told = rng.random() < 0.5
    if not told:
        changed["checksum"] = np.array(array_checksum(changed))
    return changed, told


def hostile_header(rng, content):
    """Another shape, of as many characters, in the header of one of the arrays."""
    heads = [place for place in range(len(content)) if content[place : place + 6] == b"\x93NUMPY"]
    start = heads[rng.integers(len(heads))]
    shape = content.index(b"'shape': (", start) + len(b"'shape': (")
    end = content.index(b"}", shape)
    claimed = [b"8000000000000,), ", b"99999999, 99999,), ", b"1,)*9999999999), ", b"(((((((((((((((), ", b"-1,), "]
    value = claimed[rng.integers(len(claimed))][: end - shape].ljust(end - shape)
    return content[:shape] + value + content[end:]


def use(record, kind):
    """What a valid record can do."""
    if kind == "statistics":
        return PLAN.test(record).to_json() if record.plan == PLAN.key else record.to_bytes()
    if kind == "reference":
        record.summary()
        return record.test(Y).to_json()
    if kind == "plan":
        record.key  # noqa: B018
    str(record)
    repr(record)
    text = record.to_json()
    assert type(record).from_json(text).to_json() == text
    return text


def original(kind, folder):
    """A record, the content of its file, and the function that reads it."""
    if kind == "statistics":
        record = PLAN.statistics(X, Y)
        return record, record.to_bytes(), ts.FeatureStatistics.from_bytes
    if kind == "reference":
        record = ts.Reference.of(X, points=4)
        path = f"{folder}/reference.npz"
        record.save(path)
        with open(path, "rb") as file:
            content = file.read()

        def load(content):
            with open(path, "wb") as file:
                file.write(content)
            return ts.Reference.load(path)

        return record, content, load
    record = RESULTS[kind]()
    reader = {"plan": Plan, "robustness": Robustness}.get(kind, type(record))
    return record, record.to_json(), reader.from_json


def mutated(kind, content, count, rng):
    """Mutations of the content of a file, and whether its checksum tells."""
    if kind not in ARRAYS:
        text, parts = Text(), []
        spans(json.loads(content), text, parts)
        assert "".join(text) == content
        for _ in range(count):
            yield mutate_json(rng, content, parts)
        return
    with np.load(io.BytesIO(content)) as stored:
        arrays = dict(stored)
    plain = io.BytesIO()
    np.savez(plain, **arrays)
    for _ in range(count):
        action = rng.integers(4)
        if action == 0:
            yield mutate_bytes(rng, content), True
        elif action == 1:
            yield hostile_header(rng, plain.getvalue()), True
        else:
            changed, told = mutate_arrays(rng, arrays)
            file = io.BytesIO()
            np.savez(file, **changed)
            yield file.getvalue(), told


def check(kind, count, folder, seed=0):
    """Read mutations; returns how many were refused, equal and valid, and what was wrong with the others."""
    record, content, load = original(kind, folder)
    use(record, kind)
    written = load(content)
    outcomes, wrong = Counter(), []
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    for number, (changed, told) in enumerate(mutated(kind, content, count, rng)):
        start = time.perf_counter()
        try:
            found = load(changed)
            if told:
                # What the checksum covers is what was written.
                outcome = "equal" if found == written else "wrong"
            else:
                use(found, kind)
                outcome = "valid"
        except (InputError, InputTypeError):
            outcome = "refused"
        except Exception as error:  # what the test is for
            outcome, told = "foreign", f"{type(error).__name__}: {error}"
        if time.perf_counter() - start > SECONDS:
            outcome = "slow"
        outcomes[outcome] += 1
        if outcome not in ("refused", "equal", "valid"):
            wrong.append((number, outcome, told))
    return outcomes, wrong


if __name__ == "__main__":
    import tempfile

    sys.set_int_max_str_digits(4300)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as temporary:
        started = time.perf_counter()
        for one in sys.argv[1].split(","):
            counts, faults = check(one, int(sys.argv[2]), temporary)
            seconds = round(time.perf_counter() - started, 1)
            print(json.dumps({"kind": one, **counts, "faults": faults[:12], "seconds": seconds}), flush=True)
