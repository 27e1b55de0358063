"""Runs tests of one program on data from files; started by `environments.ask` in that program's own environment.

It imports nothing of this repository. One JSON request comes on standard input:

    {"tests": [names], "data": [files], "seconds": 60, "megabytes": 4096, "timed": false}

A file (``.npz``) holds ``x`` and ``y``, each of shape (data sets, rows, columns). For every test, file and data set one
JSON line goes to standard output: what was asked, and ``p``, ``rejects`` or ``log_bf10``, or ``error``. If ``timed``,
the first data set of every file is tested, after a call on a few of its rows, repeatedly, and the line has the median
``seconds`` (of the processor) and ``megabytes`` (largest resident memory of the process so far). A process that needs
more than ``seconds`` for one call is ended by the signal SIGPROF.
"""

import json
import os
import resource
import signal
import statistics
import sys
import time
import warnings

import numpy as np

LEVEL, PERMUTATIONS, WARM_UP, REPEATS = 0.05, 199, 100, 3
ENOUGH_SECONDS, LONG_SECONDS = 0.2, 5.0


def by_column(x, y, test):
    """Bonferroni's correction of the p-values of all columns; nothing to correct with one."""
    return {"p": min(1.0, x.shape[1] * min(float(test(x[:, k], y[:, k])) for k in range(x.shape[1])))}


def scipy_test(name):
    def run(x, y, seed):
        from scipy import stats

        return by_column(x, y, lambda a, b: getattr(stats, name)(a, b).pvalue)

    return run


def scipy_anderson(x, y, seed):
    from scipy import stats

    return by_column(x, y, lambda a, b: stats.anderson_ksamp([a, b], variant="midrank").pvalue)


def twosample_default(x, y, seed):
    import twosample as ts

    return {"log_bf10": ts.test(x, y).log_bf10}


def twosample_permutations(x, y, seed):
    import twosample as ts

    result = ts.test(x, y, permutations=PERMUTATIONS)
    return {"p": result.pvalue, "log_bf10": result.log_bf10}


def twosample_mmd(x, y, seed):
    import twosample as ts

    return {"p": ts.baselines.mmd(x, y, aggregate=True, permutations=PERMUTATIONS).pvalue}


def twosample_report(x, y, path):
    import twosample as ts

    ts.test(x, y).report(path)


def hyppo_test(name):
    def run(x, y, seed):
        from hyppo import ksample

        test = ksample.KSample(name) if name in ("Dcorr", "MGC") else getattr(ksample, name)()
        return {"p": float(test.test(x, y, random_state=seed)[1])}

    return run


def mmdagg(x, y, seed):
    from mmdagg.jax import mmdagg as test

    return {"rejects": float(test(x, y, seed=seed))}


def mmdfuse(x, y, seed):
    from jax import random
    from mmdfuse import mmdfuse as test

    return {"rejects": float(test(x, y, random.PRNGKey(seed)))}


def goodpoints_ctt(x, y, seed):
    """The bandwidth is the median distance of 500 rows: there is no default that fits the data."""
    from goodpoints import ctt

    rows = np.concatenate([x, y])
    rows = np.random.default_rng(seed).permutation(rows)[:500]
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)[np.triu_indices(len(rows), 1)]
    bandwidth = float(np.median(distances[distances > 0]))
    found = ctt.ctt(
        np.ascontiguousarray(x), np.ascontiguousarray(y), 4, lam=bandwidth, null_seed=seed, statistic_seed=seed
    )
    return {"rejects": float(found.rejects)}


def alibi(detector):
    def run(x, y, seed):
        import torch
        from alibi_detect import cd
        from sklearn.ensemble import GradientBoostingClassifier

        torch.manual_seed(seed)
        options = {
            "KSDrift": {},
            "MMDDrift": {"backend": "pytorch"},
            "LSDDDrift": {"backend": "pytorch"},
            "ClassifierDrift": {"backend": "sklearn", "seed": seed},
        }[detector]
        first = [x.astype(np.float32)]
        if detector == "ClassifierDrift":
            first.append(GradientBoostingClassifier(random_state=seed))
        found = getattr(cd, detector)(*first, p_val=LEVEL, **options).predict(y.astype(np.float32))
        return {"rejects": float(found["data"]["is_drift"])}

    return run


def frames(x, y):
    import pandas as pd

    names = [f"column {number}" for number in range(x.shape[1])]
    return pd.DataFrame(x, columns=names), pd.DataFrame(y, columns=names)


def evidently_run(x, y):
    from evidently import Report
    from evidently.presets import DataDriftPreset

    reference, current = frames(x, y)
    return Report([DataDriftPreset()]).run(current, reference)


def evidently_preset(x, y, seed):
    """Its own answer is "half of the columns drifted"; it also counts those that did."""
    (drifted,) = (
        metric["value"]
        for metric in evidently_run(x, y).dict()["metrics"]
        if metric["metric_name"].startswith("DriftedColumnsCount")
    )
    return {"rejects": float(drifted["share"] >= 0.5), "any_column": float(drifted["count"] > 0)}


def evidently_report(x, y, path):
    evidently_run(x, y).save_html(path)


def pingouin_ttest(x, y, seed):
    """JASP's default Bayesian t-test (Cauchy prior of scale 0.707) of one column."""
    import pingouin
    from scipy import stats

    if x.shape[1] > 1:
        raise ValueError("one column only")
    t = stats.ttest_ind(x[:, 0], y[:, 0]).statistic
    return {"log_bf10": float(np.log(float(pingouin.bayesfactor_ttest(t, len(x), len(y)))))}


TESTS = {
    "test": twosample_default,
    "test with p-value": twosample_permutations,
    "baselines.mmd, aggregated": twosample_mmd,
    "ttest_ind": scipy_test("ttest_ind"),
    "mannwhitneyu": scipy_test("mannwhitneyu"),
    "ks_2samp": scipy_test("ks_2samp"),
    "cramervonmises_2samp": scipy_test("cramervonmises_2samp"),
    "anderson_ksamp": scipy_anderson,
    "epps_singleton_2samp": scipy_test("epps_singleton_2samp"),
    "Energy": hyppo_test("Energy"),
    "MMD": hyppo_test("MMD"),
    'KSample("MGC")': hyppo_test("MGC"),
    "mmdagg": mmdagg,
    "mmdfuse": mmdfuse,
    "ctt": goodpoints_ctt,
    **{name: alibi(name) for name in ("KSDrift", "MMDDrift", "LSDDDrift", "ClassifierDrift")},
    "DataDriftPreset": evidently_preset,
    "bayesfactor_ttest": pingouin_ttest,
}
REPORTS = {"twosample": twosample_report, "evidently": evidently_report}


def limited(seconds, work, *arguments):
    """What `work` returns, and the processor time; the process ends where that is too long."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    start = time.process_time()
    try:
        return work(*arguments), time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def many(calls, work, *arguments):
    for _ in range(calls):
        found = work(*arguments)
    return found


def peak_megabytes():
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2))


def timed(limit, test, x, y):
    """Answer, median time and memory; short calls are timed many at once, because some clocks are coarse."""
    test(x[:WARM_UP], y[:WARM_UP], 0)
    calls, taken = 1, 0.0
    while taken < ENOUGH_SECONDS:
        calls *= 4 if taken else 1
        found, taken = limited(limit, many, calls, test, x, y, 0)
        taken = max(taken, 1e-9)
    times = [taken]
    while len(times) < REPEATS and taken < LONG_SECONDS:
        times.append(limited(limit, many, calls, test, x, y, 0)[1])
    return found | {"seconds": statistics.median(times) / calls, "megabytes": peak_megabytes()}


def error(raised, request):
    """What goes into the answer instead of a result."""
    said = (str(raised).strip().splitlines() or [""])[0]
    if isinstance(raised, MemoryError) or "allocate memory" in said:
        return {"error": f"more than {request['megabytes'] / 1024:.2g} GB"}
    return {"error": f"{type(raised).__name__}: {' '.join(said.split())[:200]}"}


def run(request, say):
    """Every test on every data set."""
    for name in request["tests"]:
        for path in request["data"]:
            with np.load(path) as file:
                samples = zip(file["x"], file["y"], strict=True)
            for number, (x, y) in enumerate(samples):
                np.random.seed(number)  # noqa: NPY002 - what some programs draw from
                try:
                    found = limited(request["seconds"], TESTS[name], x, y, number)[0]
                except Exception as raised:  # whatever a program raises is its answer
                    found = error(raised, request)
                say(test=name, data=path, number=number, **found)


def run_timed(request, say):
    """Every test on files of growing size, until there is an error, or one is sure to come.

    The time for more rows is expected to be at least half of what it is in proportion to the rows that were added last.
    """
    for name in request["tests"]:
        done = []
        for path in request["data"]:
            with np.load(path) as file:
                x, y = file["x"][0], file["y"][0]
            if len(done) > 1:
                (rows, seconds), (more_rows, more_seconds) = done[-2:]
                expected = (more_seconds - seconds) / (more_rows - rows) * len(x) / 2
                if expected > request["seconds"]:
                    say(test=name, data=path, error=f"not tried: at least {expected:.0f} s expected")
                    break
            try:
                found = timed(request["seconds"], TESTS[name], x, y)
            except Exception as raised:
                say(test=name, data=path, **error(raised, request))
                break
            say(test=name, data=path, **found)
            done.append((len(x), found["seconds"]))


def run_report(request, say):
    """One report, from data to file."""
    with np.load(request["data"][0]) as file:
        x, y = file["x"][0], file["y"][0]
    _, taken = limited(request["seconds"], REPORTS[request["report"]], x, y, request["into"])
    say(seconds=taken, megabytes=peak_megabytes(), file_megabytes=os.path.getsize(request["into"]) / 1e6)


def main():
    request = json.load(sys.stdin)
    # What programs print must not get among the answers.
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if request["timed"] and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_DATA, (request["megabytes"] * 1024**2,) * 2)
    warnings.simplefilter("ignore")

    def say(**values):
        reply.write(json.dumps(values) + "\n")
        reply.flush()

    if "report" in request:
        run_report(request, say)
    else:
        (run_timed if request["timed"] else run)(request, say)


if __name__ == "__main__":
    main()
