"""Shapes of rings: Cremer–Pople puckering coordinates, from arrays or from structure files.

>>> import numpy as np
>>> from twosample import chemistry
>>> around = np.pi * np.arange(6) / 3
>>> chair = np.column_stack([1.45 * np.cos(around), -1.45 * np.sin(around), [0.23, -0.23, 0.23, -0.23, 0.23, -0.23]])
>>> chemistry.cremer_pople(chair).amplitudes.round(3)
array([0.   , 0.563])
"""

from twosample.paper.chemistry.geometry import Puckering, cremer_pople
from twosample.paper.chemistry.structure_files import RingTable, read_rings

__all__ = ["Puckering", "RingTable", "cremer_pople", "read_rings"]
