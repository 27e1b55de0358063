"""Thirty published comparisons of two small samples, 5 to 25 rows each, some of them pairs.

The numbers are those of the tables cited. Where a table has more groups than two, or more rows than 25 a group, `title`
says which are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.suite import Array


class Published(NamedTuple):
    """Two samples of a published table."""

    title: str
    x: Array
    y: Array
    paired: bool
    source: str


def _table(title: str, x: str, y: str, source: str, *, paired: bool = False) -> Published:
    first, second = (np.array(rows.split(), dtype=float) for rows in (x, y))
    return Published(title, first, second, paired, source)


_STUDENT = "Student (1908), The probable error of a mean, Biometrika 6, 1–25"
_TOOTH = (
    "Crampton, E. W. (1947), The growth of the odontoblasts of the incisor tooth as a criterion of the vitamin C "
    "intake of the guinea pig, Journal of Nutrition 33, 491–504"
)
_PLANTS = "Dobson, A. J. (1983), An Introduction to Statistical Modelling, Chapman and Hall"
_SPRAYS = "Beall, G. (1942), The transformation of data from entomological field experiments, Biometrika 29, 243–262"
_IRIS = "Fisher, R. A. (1936), The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 179–188"
_HOLLANDER = "Hollander, M. and Wolfe, D. A. (1973), Nonparametric Statistical Methods, Wiley"
_BOX = "Box, G. E. P., Hunter, W. G. and Hunter, J. S. (1978), Statistics for Experimenters, Wiley"

PUBLISHED = (
    _table(
        "Sleep gained, two drugs",
        "0.7 -1.6 -0.2 -1.2 -0.1 3.4 3.7 0.8 0 2",
        "1.9 0.8 1.1 0.1 -0.1 4.4 5.5 1.6 4.6 3.4",
        f"Cushny, A. R. and Peebles, A. R. (1905), in {_STUDENT}",
        paired=True,
    ),
    _table(
        "Maize, crossed and self-fertilised",
        "23.5 12 21 22 19.125 21.5 22.125 20.375 18.25 21.625 23.25 21 22.125 23 12",
        "17.375 20.375 20 20 18.375 18.625 18.625 15.25 16.5 18 16.25 18 12.75 15.5 18",
        "Darwin, C. (1876), The Effects of Cross and Self Fertilisation in the Vegetable Kingdom, Murray; Fisher, "
        "R. A. (1935), The Design of Experiments, Oliver and Boyd",
        paired=True,
    ),
    _table(
        "Shoe soles, two materials",
        "13.2 8.2 10.9 14.3 10.7 6.6 9.5 10.8 8.8 13.3",
        "14.0 8.8 11.2 14.2 11.8 6.4 9.8 11.3 9.3 13.6",
        _BOX,
        paired=True,
    ),
    _table(
        "Corn, regular and kiln-dried seed",
        "1903 1935 1910 2496 2108 1961 2060 1444 1612 1316 1511",
        "2009 1915 2011 2463 2180 1925 2122 1482 1542 1443 1535",
        _STUDENT,
        paired=True,
    ),
    _table(
        "Platelets, before and after smoking",
        "25 25 27 44 30 67 53 53 52 60 28",
        "27 29 37 56 46 82 57 80 61 59 43",
        "Levine, P. H. (1973), An acute effect of cigarette smoking on platelet function, Circulation 48, 619–623",
        paired=True,
    ),
    _table(
        "Depression, before and after a tranquillizer",
        "1.83 0.50 1.62 2.48 1.68 1.88 1.55 3.06 1.30",
        "0.878 0.647 0.598 2.05 1.06 1.29 1.06 3.14 1.29",
        f"Salsburg, D. (1970), in {_HOLLANDER}",
        paired=True,
    ),
    _table(
        "Anorexia, before and after family treatment",
        "83.8 83.3 86 82.5 86.7 79.6 76.9 94.2 73.4 80.5 81.6 82.1 77.6 83.5 89.9 86 87.3",
        "95.2 94.3 91.5 91.9 100.3 76.7 76.8 101.6 94.9 75.2 77.8 95.5 90.7 92.5 93.8 91.7 98",
        "Hand, D. J., Daly, F., McConway, K., Lunn, D. and Ostrowski, E. (1993), A Handbook of Small Data Sets, "
        "Chapman and Hall",
        paired=True,
    ),
    _table(
        "CD4 counts, at first and after a year",
        "2.12 4.35 3.39 2.51 4.04 5.10 3.77 3.35 4.10 3.35 4.15 3.56 3.39 1.88 2.56 2.96 2.49 3.03 2.66 3.00",
        "2.47 4.61 5.26 3.02 6.36 5.93 3.93 4.09 4.88 3.81 4.74 3.29 5.55 2.82 4.23 3.23 2.56 4.31 4.37 2.40",
        "DiCiccio, T. J. and Efron, B. (1996), Bootstrap confidence intervals, Statistical Science 11, 189–228",
        paired=True,
    ),
    _table(
        "Head length, first and second sons",
        "191 195 181 183 176 208 189 197 188 192 179 183 174 190 188 163 195 186 181 175 192 174 176 197 190",
        "179 201 185 188 171 192 190 189 197 187 186 174 185 195 187 161 183 173 182 165 185 178 176 200 187",
        "Frets, G. P. (1921), Heredity of head form in man, Genetica 3, 193–400",
        paired=True,
    ),
    _table(
        "Plants, control and treatment 1",
        "4.17 5.58 5.18 6.11 4.50 4.61 5.17 4.53 5.33 5.14",
        "4.81 4.17 4.41 3.59 5.87 3.83 6.03 4.89 4.32 4.69",
        _PLANTS,
    ),
    _table(
        "Plants, treatments 1 and 2",
        "4.81 4.17 4.41 3.59 5.87 3.83 6.03 4.89 4.32 4.69",
        "6.31 5.12 5.54 5.50 5.37 5.29 4.92 6.15 5.80 5.26",
        _PLANTS,
    ),
    _table(
        "Teeth, orange juice and ascorbic acid, 0.5 mg",
        "15.2 21.5 17.6 9.7 14.5 10.0 8.2 9.4 16.5 9.7",
        "4.2 11.5 7.3 5.8 6.4 10.0 11.2 11.2 5.2 7.0",
        _TOOTH,
    ),
    _table(
        "Teeth, orange juice and ascorbic acid, 2 mg",
        "25.5 26.4 22.4 24.5 24.8 30.9 26.4 27.3 29.4 23.0",
        "23.6 18.5 33.9 25.5 26.4 32.5 26.7 21.5 23.3 29.5",
        _TOOTH,
    ),
    _table(
        "Teeth, ascorbic acid, 0.5 and 1 mg",
        "4.2 11.5 7.3 5.8 6.4 10.0 11.2 11.2 5.2 7.0",
        "16.5 16.5 15.2 17.3 22.5 17.3 13.6 14.5 18.8 15.5",
        _TOOTH,
    ),
    _table(
        "Insects, sprays A and B", "10 7 20 14 14 12 10 23 17 20 14 13", "11 17 21 11 16 14 17 17 19 21 7 13", _SPRAYS
    ),
    _table("Insects, sprays A and C", "10 7 20 14 14 12 10 23 17 20 14 13", "0 1 7 2 3 1 2 1 3 0 1 4", _SPRAYS),
    _table(
        "Chicks, casein and horsebean",
        "368 390 379 260 404 318 352 359 216 222 283 332",
        "179 160 136 227 217 168 108 124 143 140",
        "McNeil, D. R. (1977), Interactive Data Analysis, Wiley",
    ),
    _table(
        "Petal length, setosa and versicolor, first 5",
        "1.4 1.4 1.3 1.5 1.4",
        "4.7 4.5 4.9 4.0 4.6",
        f"Anderson, E. (1935), in {_IRIS}",
    ),
    _table(
        "Sepal width, versicolor and virginica, first 10",
        "3.2 3.2 3.1 2.3 2.8 2.8 3.3 2.4 2.9 2.7",
        "3.3 2.7 3.0 2.9 3.0 3.0 2.5 2.9 2.5 3.6",
        f"Anderson, E. (1935), in {_IRIS}",
    ),
    _table(
        "Warp breaks, wools A and B, medium tension",
        "18 21 29 17 12 18 35 30 36",
        "42 26 19 16 39 28 21 39 29",
        "Tippett, L. H. C. (1950), Technological Applications of Statistics, Wiley",
    ),
    _table(
        "CO₂ uptake at 1000 mL/L, Quebec and Mississippi",
        "39.7 44.3 45.5 38.7 42.4 41.4",
        "35.5 31.5 27.8 21.9 14.4 19.9",
        "Potvin, C., Lechowicz, M. J. and Tardif, S. (1990), The statistical analysis of ecophysiological response "
        "curves obtained from experiments involving repeated measures, Ecology 71, 1389–1400",
    ),
    _table(
        "Peas, without and with phosphate",
        "46.8 57.0 59.8 55.5 69.5 55.0 62.0 45.5 51.5 49.8 57.2 56.0",
        "49.5 62.8 58.5 56.0 62.8 55.8 48.8 44.2 52.0 48.8 59.0 53.2",
        "Imperial College, London, and Aston, M., in Venables, W. N. and Ripley, B. D. (2002), Modern Applied "
        "Statistics with S, Springer",
    ),
    _table(
        "Cabbage heads, lines c39 and c52, day 20",
        "3.0 2.8 2.8 2.7 2.6 2.8 2.6 2.6 2.6 3.5",
        "4.0 2.8 3.1 4.2 3.7 3.0 2.2 2.3 3.8 2.0",
        "Rawlings, J. O. (1988), Applied Regression Analysis: A Research Tool, Wadsworth and Brooks/Cole",
    ),
    _table(
        "Speed of light, series 4 and 5",
        "890 810 810 820 800 770 760 740 750 760 910 920 890 860 880 720 840 850 850 780",
        "890 840 780 810 760 810 790 810 820 850 870 870 810 740 810 940 950 800 810 870",
        "Michelson, A. A. (1882), Experimental determination of the velocity of light, Astronomical Papers 1, 109–145",
    ),
    _table("Tomatoes, fertilizers A and B", "29.9 11.4 25.3 16.5 21.1", "26.6 23.7 28.5 14.2 17.9 24.3", _BOX),
    _table(
        "Serum iron, methods of Ramsay and Jung–Parekh",
        "111 107 100 99 102 106 109 108 104 99 101 96 97 102 107 113 116 113 110 98",
        "107 108 106 98 105 103 110 105 104 100 96 108 103 104 114 114 113 108 106 99",
        f"Jung, D. H. and Parekh, A. C. (1970), in {_HOLLANDER}",
    ),
    _table(
        "Mice, treated and control",
        "94 197 16 38 99 141 23",
        "52 104 146 10 51 30 40 27 46",
        "Efron, B. and Tibshirani, R. J. (1993), An Introduction to the Bootstrap, Chapman and Hall",
    ),
    _table(
        "Latent heat of ice, methods A and B",
        "79.98 80.04 80.02 80.04 80.03 80.03 80.04 79.97 80.05 80.03 80.02 80.00 80.02",
        "80.02 79.94 79.98 79.97 79.97 80.03 79.95 79.97",
        "Natrella, M. G. (1963), Experimental Statistics, National Bureau of Standards Handbook 91",
    ),
    _table(
        "Miles per gallon, automatic and manual",
        "21.4 18.7 18.1 14.3 24.4 22.8 19.2 17.8 16.4 17.3 15.2 10.4 10.4 14.7 21.5 15.5 15.2 13.3 19.2",
        "21.0 21.0 22.8 32.4 30.4 33.9 27.3 26.0 30.4 15.8 19.7 15.0 21.4",
        "Henderson, H. V. and Velleman, P. F. (1981), Building multiple regression models interactively, Biometrics "
        "37, 391–411",
    ),
    _table(
        "Chorioamnion, at term and at 12 to 26 weeks",
        "0.80 0.83 1.89 1.04 1.45 1.38 1.91 1.64 0.73 1.46",
        "1.15 0.88 0.90 0.74 1.21",
        _HOLLANDER,
    ),
)
