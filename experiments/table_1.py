"""Bayes factors at the lengthscale of the median heuristic, for nine alternatives to N(0, 1)."""

from experiments.tables import Printed, table

PRINTED = {
    "N(0, 1), the same": Printed("1.79e+25", "1.00e+00"),
    "N(0, 4)": Printed("5.44e-05", "5.44e-05"),
    "N(0, 9)": Printed("2.12e-51", "2.12e-51"),
    "N(1, 1)": Printed("2.31e-13", "2.31e-13"),
    "N(2, 1)": Printed("3.55e-185", "3.55e-185"),
    "N(3, 1)": Printed("0", "0"),
    "Laplace(0, √½)": Printed("5.86e+22", "1.00e+00"),
    "Laplace(0, 1.5)": Printed("2.13e+07", "9.99e-01"),
    "Laplace(0, 0.4)": Printed("6.51e-02", "6.11e-02"),
}
LENGTHSCALES = "median"

EXPERIMENT = table(
    "table_1",
    "Bayes factors at the lengthscale of the median heuristic",
    "Table 1 (appendix D)",
    PRINTED,
    LENGTHSCALES,
    "θ: the median heuristic",
)
