"""Two 2 × 2 grids of normal laws, round ones against shifted and stretched ones, as in the text of the paper."""

from functools import partial

from experiments.curves import experiment
from twosample.paper.simulate import blobs

# Four blobs with 10 to 300 rows each.
SIZES = tuple(4 * n for n in (10, 25, 50, 100, 200, 300))

LAWS = {f"ε = {epsilon:g}": partial(blobs, epsilon=epsilon) for epsilon in (2.0, 6.0, 10.0, 20.0)}

EXPERIMENT = experiment(
    "blobs",
    "2 × 2 round blobs against shifted and stretched ones (n in all four blobs)",
    "Figure 4 (section 5.2)",
    LAWS,
    SIZES,
)
