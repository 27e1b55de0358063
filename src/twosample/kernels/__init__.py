"""Kernels: each is one class with its formula, of a distance and a lengthscale, for arrays of any library.

Sums and products of kernels are kernels, with one lengthscale for all of them.

>>> from twosample.kernels import RBF, Laplace, Matern
>>> (RBF() + Laplace() * Matern(2.5)).label
'rbf + laplace * matern52'
"""

from twosample.kernels.base import Kernel, Product, Sum
from twosample.kernels.base import absolute_distances as absolute_distances
from twosample.kernels.base import squared_distances as squared_distances
from twosample.kernels.fourier import Fourier
from twosample.kernels.plain import NAMES as NAMES
from twosample.kernels.plain import RBF, Laplace, Matern, RationalQuadratic
from twosample.kernels.plain import resolve as resolve
from twosample.kernels.plain import resolve_several as resolve_several

__all__ = ["RBF", "Fourier", "Kernel", "Laplace", "Matern", "Product", "RationalQuadratic", "Sum"]
