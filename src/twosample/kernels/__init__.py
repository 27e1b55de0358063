"""Kernels: each is one class with its formula, of a distance and a lengthscale, for arrays of any library.

Sums and products of kernels are kernels, with one lengthscale for all of them.

>>> from twosample.kernels import RBF, Laplace, Matern
>>> (RBF() + Laplace() * Matern(2.5)).label
'rbf + laplace * matern52'
"""

from twosample.kernels.base import Kernel, absolute_distances, squared_distances
from twosample.kernels.composite import Product, Sum
from twosample.kernels.fourier import Fourier
from twosample.kernels.names import NAMES, resolve, resolve_several
from twosample.kernels.plain import RBF, Laplace, Matern, RationalQuadratic

__all__ = [
    "NAMES",
    "RBF",
    "Fourier",
    "Kernel",
    "Laplace",
    "Matern",
    "Product",
    "RationalQuadratic",
    "Sum",
    "absolute_distances",
    "resolve",
    "resolve_several",
    "squared_distances",
]
