"""What the tests of monitors share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def stream():
    """Make batches of two streams, the second shifted."""

    def stream(seed, batches, n_x=30, n_y=40, columns=1, shift=0.0):
        rng = np.random.default_rng(seed)
        return [(rng.normal(size=(n_x, columns)), rng.normal(size=(n_y, columns)) + shift) for _ in range(batches)]

    return stream
