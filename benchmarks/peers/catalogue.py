"""The programs: what installs them, which of their tests run with what settings, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Peer:
    """A program beside which the package is measured.

    `tests` says of each test, by its name in `worker.TESTS`, how it is called. Those of `slow` are
    timed, but not run on the many data sets of the power study.
    """

    name: str
    tests: dict[str, str]
    answers: dict[str, str]
    requirements: tuple[str, ...] = ()
    module: str = ""
    versions: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    one_column: tuple[str, ...] = ()
    note: str = ""
    # Runs in this interpreter: the package itself, and SciPy, which it needs.
    here: bool = field(default=False)


def answers(
    gives: str, columns: str = "no", where: str = "no", size: str = "no", same: str = "no", any_time: str = "no"
) -> dict[str, str]:
    """What a program answers, in words for a table."""
    return {
        "answers": gives,
        "which columns": columns,
        "where": where,
        "how much": size,
        'says "the same"': same,
        "may be looked at any time": any_time,
    }


P_VALUE = "p-value"
PEERS = (
    Peer(
        "twosample",
        {
            "test": "`ts.test(x, y)`, the whole answer, without a p-value",
            "test with p-value": "`ts.test(x, y, permutations=199)`",
            "baselines.mmd, aggregated": "`ts.baselines.mmd(x, y, aggregate=True, permutations=199)`: "
            "this package's own version of the aggregated MMD test",
        },
        answers(
            "probability, Bayes factor; p-value and e-value on request",
            columns="yes, with probabilities",
            where="yes, witness with band",
            size="yes, AUC and MMD with intervals",
            same="yes",
            any_time="e-values of separate batches may be multiplied",
        ),
        module="twosample",
        versions=("twosample", "numpy"),
        here=True,
    ),
    Peer(
        "SciPy",
        {
            name: f"`scipy.stats.{call}`; several columns: the smallest p-value times their number"
            for name, call in (
                ("ttest_ind", "ttest_ind(x, y)"),
                ("mannwhitneyu", "mannwhitneyu(x, y)"),
                ("ks_2samp", "ks_2samp(x, y)"),
                ("cramervonmises_2samp", "cramervonmises_2samp(x, y)"),
                ("anderson_ksamp", 'anderson_ksamp([x, y], variant="midrank")'),
                ("epps_singleton_2samp", "epps_singleton_2samp(x, y)"),
            )
        },
        answers(P_VALUE, columns="by a loop", where="`ks_2samp`: at which value", size="of means, by another call"),
        module="scipy.stats",
        versions=("scipy",),
        here=True,
    ),
    Peer(
        "hyppo",
        {
            "Energy": "`hyppo.ksample.Energy().test(x, y)`: above 20 rows a chi-squared approximation, no permutations",
            "MMD": "`hyppo.ksample.MMD().test(x, y)`: Gaussian kernel, else as Energy",
            'KSample("MGC")': '`hyppo.ksample.KSample("MGC").test(x, y)`: 1,000 permutations; times only',
        },
        answers(P_VALUE, size="MGC: the scale"),
        requirements=("hyppo",),
        module="hyppo.ksample",
        versions=("hyppo",),
        slow=('KSample("MGC")',),
    ),
    Peer(
        "MMDAgg",
        {"mmdagg": "`mmdagg.jax.mmdagg(x, y)`"},
        answers("rejected or not at a level, p-values by kernel"),
        requirements=("mmdagg @ git+https://github.com/antoninschrab/mmdagg.git",),
        module="mmdagg.jax",
        versions=("mmdagg",),
        note="only in its repository",
    ),
    Peer(
        "MMD-FUSE",
        {"mmdfuse": "`mmdfuse.mmdfuse(x, y, key)`"},
        answers("rejected or not at a level, p-value"),
        requirements=("mmdfuse @ git+https://github.com/antoninschrab/mmdfuse.git",),
        module="mmdfuse",
        versions=("mmdfuse",),
        note="only in its repository",
    ),
    Peer(
        "goodpoints",
        {"ctt": "`goodpoints.ctt.ctt(x, y, g=4, lam=median distance)`: 39 permutations, its default"},
        answers("rejected or not at a level"),
        requirements=("goodpoints",),
        module="goodpoints.ctt",
        versions=("goodpoints",),
    ),
    Peer(
        "alibi-detect",
        {
            "KSDrift": "`KSDrift(x, p_val=0.05)`: Kolmogorov–Smirnov by column with asymptotic p-values, Bonferroni",
            "MMDDrift": '`MMDDrift(x, backend="pytorch")`: 100 permutations, median bandwidth',
            "LSDDDrift": '`LSDDDrift(x, backend="pytorch")`: 100 permutations',
            "ClassifierDrift": '`ClassifierDrift(x, GradientBoostingClassifier(), backend="sklearn")`: '
            "a quarter of the rows held out",
        },
        answers("p-value or p-values by column", columns="KSDrift", size="a distance", any_time="its online detectors"),
        requirements=("alibi-detect[torch]",),
        module="alibi_detect.cd",
        versions=("alibi-detect", "torch"),
        note="source-available, under the Business Source License",
    ),
    Peer(
        "evidently",
        {
            "DataDriftPreset": "`Report([DataDriftPreset()])`: K–S by column at 0.05 up to 1,000 rows, "
            "above them Wasserstein distance > 0.1; drift: half of the columns"
        },
        answers("p-values or distances by column", columns="yes, not corrected for their number", size="a distance"),
        requirements=("evidently", "pandas<3"),
        module="evidently",
        versions=("evidently", "pandas"),
        note="with the newest pandas it does not import, so pandas is kept below 3",
    ),
    Peer(
        "JASP (pingouin)",
        {
            "bayesfactor_ttest": "`pingouin.bayesfactor_ttest`: one column; "
            "JASP's default Bayesian t-test (Cauchy scale 0.707)"
        },
        answers("Bayes factor, of means", size="yes, standardised mean difference", same="yes"),
        requirements=("pingouin",),
        module="pingouin",
        versions=("pingouin",),
        one_column=("bayesfactor_ttest",),
        note="a desktop program; its t-test is measured as pingouin has it",
    ),
)
