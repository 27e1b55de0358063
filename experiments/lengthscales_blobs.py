"""The lengthscale where round blobs are compared with slightly shifted and stretched ones."""

from functools import partial

from experiments.lengthscales import experiment
from twosample.paper.simulate import blobs

EXPERIMENT = experiment(
    "lengthscales_blobs",
    "Which lengthscales tell round blobs from shifted and stretched ones",
    "Figure 5 (section 5.2)",
    "2 × 2 blobs, ε = 2, 200 rows in each blob",
    partial(blobs, epsilon=2.0),
    800,
    (0.05, 500.0),
)
