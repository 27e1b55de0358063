"""0.5 N(0, 1) + 0.5 N(4, 1) against mixtures with other means or variances."""

from functools import partial

from experiments.curves import Law, experiment
from twosample.paper.simulate import mixture

COMPONENTS = (
    ((0.0, 4.0), 2.0),
    ((0.0, 8.0), 1.0),
    ((0.0, 8.0), 2.0),
    ((2.0, 6.0), 1.0),
    ((2.0, 8.0), 2.0),
    ((-4.0, 8.0), 1.0),
    ((-4.0, 8.0), 2.0),
)

LAWS: dict[str, Law] = {
    "½ N(0, 1) + ½ N(4, 1), the same": mixture,
    **{
        f"½ N({low:g}, {sd * sd:g}) + ½ N({high:g}, {sd * sd:g})": partial(mixture, means=(low, high), sd=sd)
        for (low, high), sd in COMPONENTS
    },
}

EXPERIMENT = experiment(
    "mixtures",
    "½ N(0, 1) + ½ N(4, 1) against another mixture of two normal laws",
    "the figures of appendix E",
    LAWS,
)
