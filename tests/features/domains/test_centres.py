import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample.features.domains.centres import farthest_points, own_order


def brute_force(distances, first, count):
    chosen = [first]
    while len(chosen) < count:
        nearest = distances[:, chosen].min(axis=1)
        if nearest.max() < 1e-9:
            break
        chosen.append(int(np.argmax(nearest)))
    return chosen


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 14))
def test_each_centre_is_the_farthest_from_those_before(seed, count):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2, 12, 3))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    kernel = rows @ np.swapaxes(rows, 1, 2)
    distances = np.square(rows[:, :, None] - rows[:, None]).sum(axis=3).mean(axis=0)
    places, values = farthest_points(3, count, lambda place: kernel[:, :, place], np.ones((2, 12)))
    assert places.tolist() == brute_force(distances, 3, count)
    np.testing.assert_array_equal(values, kernel[:, :, places])


def test_equal_objects_are_one_centre():
    at = np.array([0.0, 1.0, 1.0, 0.0, 2.0])
    places, _ = farthest_points(0, 5, lambda place: (at * at[place])[None], (at * at)[None])
    assert places.tolist() == [0, 4, 1]


def test_of_objects_that_are_as_far_the_first_is_taken():
    angle = 2 * np.pi * np.arange(4) / 4
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places, _ = farthest_points(0, 4, lambda place: (rows @ rows[place])[None], np.ones((1, 4)))
    assert places.tolist() == [0, 2, 1, 3]


def test_the_order_of_objects_is_their_own():
    objects = ["a", ("b", 1), {"c": [1.0, 2.0]}, np.arange(3), 7]
    order = own_order(objects)
    backwards = objects[::-1]
    for one, other in zip(order, own_order(backwards), strict=True):
        assert objects[one] is backwards[other]
    assert own_order([1, open]) is not None
    assert own_order([1, lambda: 0]) is None
