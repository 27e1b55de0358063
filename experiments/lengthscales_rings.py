"""The lengthscale where six-membered rings in crystals are compared with those in the gas phase."""

from experiments.lengthscales import experiment
from experiments.rings import missing, rings

EXPERIMENT = experiment(
    "lengthscales_rings",
    "Which lengthscales tell rings in crystals from rings in the gas phase",
    "the second figure of section 6.2",
    "crystal against gas phase",
    rings,
    800,
    (0.001, 10.0),
    missing=missing,
)
