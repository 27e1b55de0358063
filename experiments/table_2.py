"""Bayes factors at the lengthscale, of a grid of 60, that is best for the alternative: N(0, 1) against Laplace laws.

The grid starts at 0.01; the 0.001 below the paper's table is a misprint, as its text and its numbers show.
"""

import numpy as np

from experiments.tables import Printed, table

PRINTED = {
    "Laplace(0, √½)": Printed("4.64e+13", "1.00e+00", "31.19"),
    "Laplace(0, 1.5)": Printed("2.13e-02", "2.13e-02", "4.75"),
    "Laplace(0, 0.4)": Printed("3.12e-07", "3.12e-07", "2.04"),
}
LENGTHSCALES = np.linspace(0.01, 40.0, 60)

EXPERIMENT = table(
    "table_2",
    "Bayes factors at the best lengthscale of a grid",
    "Table 2 (appendix D)",
    PRINTED,
    LENGTHSCALES,
    "θ: the one of 60 with the least mean BF",
)
