"""The blobs with ε = 6, and up to six further columns in which nothing differs.

The default model divides columns by their spread, which for columns of clusters far apart is at least a fifth of the
spread that their quartiles show: 3 to 4 here, and 1 for the noise. The paper has no such step; `adaptive_raw` leaves it
out.
"""

from functools import partial

from experiments.curves import MODELS, experiment
from twosample.paper.simulate import blobs

EXPERIMENT = experiment(
    "higher_dimensions",
    "2 × 2 blobs with ε = 6 and further columns of noise (n in all four blobs)",
    "Figure 6 (section 5.3)",
    {
        f"{2 + noise} columns" + (f", {noise} of noise" if noise else ""): partial(blobs, epsilon=6.0, noise=noise)
        for noise in range(7)
    },
    tuple(4 * n for n in (25, 50, 100, 200)),
    models=(*MODELS, "adaptive_raw"),
)
