import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from twosample.errors import InputError, InputTypeError
from twosample.paper.chemistry import cremer_pople

# Coordinates are of order 1, so that what they are computed from is exact to about 1e-15.
EXACT = {"rtol": 0, "atol": 1e-12}


def polygon(heights, radius=1.45):
    """Atoms clockwise on a circle seen from above, at given heights; the normal points up."""
    angle = -2 * np.pi * np.arange(len(heights)) / len(heights)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), heights])


def random_ring(size, seed, wobble=0.3):
    rng = np.random.default_rng(seed)
    return polygon(rng.normal(0, 0.4, size), 0.25 * size) + rng.normal(0, wobble / 3, (size, 3))


def by_the_formulas(coordinates):
    """Sums as they are written in the paper of Cremer and Pople, one term after the other."""
    size = len(coordinates)
    centre = sum(coordinates) / size
    atoms = [atom - centre for atom in coordinates]
    first = sum(atom * np.sin(2 * np.pi * j / size) for j, atom in enumerate(atoms))
    second = sum(atom * np.cos(2 * np.pi * j / size) for j, atom in enumerate(atoms))
    normal = np.cross(first, second) / np.linalg.norm(np.cross(first, second))
    z = [atom @ normal for atom in atoms]
    q, phi = [], []
    for m in range(2, (size - 1) // 2 + 1):
        a = np.sqrt(2 / size) * sum(height * np.cos(2 * np.pi * m * j / size) for j, height in enumerate(z))
        b = -np.sqrt(2 / size) * sum(height * np.sin(2 * np.pi * m * j / size) for j, height in enumerate(z))
        q.append(np.hypot(a, b))
        phi.append(np.arctan2(b, a) % (2 * np.pi))
    if size % 2 == 0:
        q.append(sum((-1) ** j * height for j, height in enumerate(z)) / np.sqrt(size))
    return np.array(q), np.array(phi), np.array(z)


def heights_from(amplitudes, phases, size):
    """The inverse: Cremer and Pople's equation for z_j."""
    j = np.arange(size)
    z = np.zeros(size)
    for m, (q, phi) in enumerate(zip(amplitudes, phases, strict=False), start=2):
        z += np.sqrt(2 / size) * q * np.cos(phi + 2 * np.pi * m * j / size)
    return z + amplitudes[-1] * (-1.0) ** j / np.sqrt(size) if size % 2 == 0 else z


def angle_between(a, b):
    return np.abs((np.asarray(a) - b + np.pi) % (2 * np.pi) - np.pi)


# ---- shapes with known coordinates


@pytest.mark.parametrize("sign", [1, -1])
def test_chair(sign):
    shape = cremer_pople(polygon(0.23 * sign * np.array([1, -1, 1, -1, 1, -1])))
    np.testing.assert_allclose(shape.amplitudes, [0, sign * 0.23 * np.sqrt(6)], **EXACT)
    np.testing.assert_allclose(shape.polar, [0.23 * np.sqrt(6), 0 if sign > 0 else 180, 0], **EXACT)
    np.testing.assert_array_equal(shape.phases, 0.0)


@pytest.mark.parametrize("turn", range(6))
def test_boat(turn):
    # Atoms 0 and 3 up: φ = 0; each step of the bow turns the phase by 120°, each change of side by 180°.
    shape = cremer_pople(polygon((-1) ** turn * np.roll([0.4, -0.2, -0.2, 0.4, -0.2, -0.2], turn)))
    np.testing.assert_allclose(shape.amplitudes, [np.sqrt(0.48), 0], **EXACT)
    assert shape.phases_degrees[0] == pytest.approx((-120 * turn + 180 * turn) % 360, abs=1e-9)
    assert shape.polar[1] == pytest.approx(90, abs=1e-9)


@pytest.mark.parametrize("turn", range(6))
def test_twist_boat(turn):
    shape = cremer_pople(polygon((-1) ** turn * np.roll([0.0, 0.4, -0.4, 0.0, 0.4, -0.4], turn)))
    np.testing.assert_allclose(shape.amplitudes, [0.8, 0], **EXACT)
    degrees = shape.phases_degrees[0]
    assert degrees == pytest.approx((270 + 60 * turn) % 360, abs=1e-9)
    assert round(degrees / 30) % 2 == 1


@pytest.mark.parametrize("size", range(4, 13))
def test_flat_ring_has_no_puckering_and_no_phase(size):
    flat = polygon(np.zeros(size))
    turned = Rotation.from_rotvec([0.3, -1.0, 0.5]).apply(flat) + np.array([3.0, -2.0, 5.0])
    for coordinates in (flat, turned):
        shape = cremer_pople(coordinates)
        np.testing.assert_allclose(shape.amplitudes, 0, **EXACT)
        np.testing.assert_array_equal(shape.phases, 0.0)
        np.testing.assert_allclose(shape.total, 0, **EXACT)


@pytest.mark.parametrize("atom", range(5))
def test_envelope(atom):
    # One atom out of the plane of the other four: the phase is a multiple of 36°, and that of atom 0 is 0.
    heights = np.zeros(5)
    heights[atom] = 0.5
    shape = cremer_pople(polygon(heights))
    assert shape.amplitudes.shape == shape.phases.shape == (1,)
    assert shape.phases_degrees[0] % 36 == pytest.approx(0, abs=1e-9) or shape.phases_degrees[0] % 36 > 36 - 1e-9
    assert angle_between(shape.phases[0], -2 * np.pi * 2 * atom / 5) < 1e-12
    assert shape.columns == ("q2",) and shape.phase_columns == ("phi2",)


def test_four_atoms_have_one_signed_amplitude():
    for sign in (1, -1):
        shape = cremer_pople(polygon(sign * np.array([0.15, -0.15, 0.15, -0.15])))
        np.testing.assert_allclose(shape.amplitudes, [sign * 0.3], **EXACT)
        np.testing.assert_allclose(shape.folded, [0.3], **EXACT)
        assert shape.phases.shape == (0,)


def test_phase_is_below_a_full_turn():
    shape = cremer_pople(polygon(heights_from([0.5, 0.1], [-1e-17], 6)))
    assert 0 <= shape.phases[0] < 2 * np.pi


def test_angles_of_chemists_only_for_six_atoms():
    with pytest.raises(InputError, match="polar is for six-membered rings, and these have 5"):
        _ = cremer_pople(random_ring(5, 0)).polar
    shape = cremer_pople(random_ring(6, 0))
    total, theta, phi = shape.polar
    np.testing.assert_allclose(
        [total * np.sin(np.radians(theta)), total * np.cos(np.radians(theta))], shape.amplitudes, **EXACT
    )
    assert phi == np.degrees(shape.phases[0])


# ---- properties

rings = st.builds(random_ring, st.integers(4, 12), st.integers(0, 2**32 - 1))


@settings(max_examples=60, deadline=None)
@given(rings)
def test_formulas_and_their_inverse(coordinates):
    shape = cremer_pople(coordinates)
    q, phi, z = by_the_formulas(coordinates)
    np.testing.assert_allclose(shape.amplitudes, q, **EXACT)
    np.testing.assert_allclose(shape.displacements, z, **EXACT)
    assert (np.abs(q[: len(phi)]) * angle_between(shape.phases, phi) < 1e-12).all()
    assert (shape.amplitudes[: len(phi)] >= 0).all() and (shape.phases >= 0).all() and (shape.phases < 2 * np.pi).all()
    np.testing.assert_allclose(heights_from(shape.amplitudes, shape.phases, len(coordinates)), z, **EXACT)
    assert shape.total**2 == pytest.approx(np.sum(z**2), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(rings, st.integers(0, 2**32 - 1))
def test_motion_does_not_matter(coordinates, seed):
    rng = np.random.default_rng(seed)
    moved = Rotation.from_quat(rng.normal(size=4)).apply(coordinates) + rng.normal(0, 3, 3)
    shape, after = cremer_pople(coordinates), cremer_pople(moved)
    np.testing.assert_allclose(after.amplitudes, shape.amplitudes, **EXACT)
    np.testing.assert_allclose(after.displacements, shape.displacements, **EXACT)


@settings(max_examples=60, deadline=None)
@given(rings, st.integers(1, 11))
def test_numbering(coordinates, start):
    size = len(coordinates)
    m = np.arange(2, (size - 1) // 2 + 1)
    signs = np.ones(size // 2 - 1)
    shape = cremer_pople(coordinates)

    def check(after, phases, sign):
        signs[len(m) :] = sign
        np.testing.assert_allclose(after.amplitudes, shape.amplitudes * signs, **EXACT)
        np.testing.assert_allclose(after.folded, shape.folded, **EXACT)
        assert (shape.amplitudes[: len(m)] * angle_between(after.phases, phases) < 1e-11).all()

    check(
        cremer_pople(np.roll(coordinates, -start, axis=0)),
        shape.phases + 2 * np.pi * m * start / size,
        (-1.0) ** start,
    )
    backwards = np.roll(coordinates[::-1], 1, axis=0)  # from the same atom, the other way round
    check(cremer_pople(backwards), np.pi - shape.phases, -1.0)
    check(cremer_pople(-coordinates), shape.phases + np.pi, -1.0)


@pytest.mark.parametrize("size", [4, 5, 6, 9])
def test_many_rings_are_like_one_after_the_other(size):
    many = np.stack([random_ring(size, seed) for seed in range(6)])
    shapes = cremer_pople(many.reshape(2, 3, size, 3))
    for index, one in enumerate(many):
        alone = cremer_pople(one)
        for field in ("amplitudes", "phases", "displacements", "total", "phases_degrees"):
            values = getattr(shapes, field)
            assert values.shape[:2] == (2, 3)
            np.testing.assert_allclose(values[divmod(index, 3)], getattr(alone, field), **EXACT)
    assert cremer_pople(np.empty((0, size, 3))).amplitudes.shape == (0, size // 2 - 1)


@pytest.mark.parametrize("unit", [1e-300, 1e-10, 1e10, 1e300])
def test_units(unit):
    ring = random_ring(7, 3)
    shape, scaled = cremer_pople(ring), cremer_pople(ring * unit)
    np.testing.assert_allclose(scaled.amplitudes / unit, shape.amplitudes, rtol=1e-12)
    np.testing.assert_allclose(scaled.phases, shape.phases, rtol=1e-12)


def test_kinds_of_numbers():
    ring = polygon([3, -3, 3, -3, 3, -3], 10).round().astype(int)
    expected = cremer_pople(ring.astype(float)).amplitudes
    for given_ring in (ring, ring.tolist(), ring.astype(np.float32)):
        np.testing.assert_array_equal(cremer_pople(given_ring).amplitudes, expected)


# ---- refusals

HEXAGON = polygon([0.2, -0.2, 0.2, -0.2, 0.2, -0.2])


def changed(atom, value):
    ring = HEXAGON.copy()
    ring[atom] = value
    return ring


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        (HEXAGON[:3], "coordinates has 3 atoms a ring; pass 4 or more"),
        (HEXAGON[:, :2], r"coordinates has shape \(6, 2\)"),
        (HEXAGON[0], r"coordinates has shape \(3,\)"),
        ([[0, 0, 0], [1, 0]], "coordinates has rows of different lengths"),
        (changed(2, np.nan), "coordinates: the ring has missing or infinite"),
        (changed(2, np.inf), "coordinates: the ring has missing or infinite"),
        (changed(2, HEXAGON[5]), "coordinates: the ring has two atoms in one place"),
        (changed(2, HEXAGON[1]), "coordinates: the ring has two atoms in one place"),
        (np.zeros((5, 3)), "coordinates: the ring has two atoms in one place"),
        (np.outer(np.arange(5.0), [1.0, 2.0, -1.0]) + 7, "coordinates: the ring has no mean plane"),
        (np.stack([HEXAGON, HEXAGON, changed(0, np.nan)]), "coordinates: ring 2 has missing"),
    ],
)
def test_refused_coordinates(coordinates, message):
    with pytest.raises(InputError, match=message):
        cremer_pople(coordinates)


@pytest.mark.parametrize("coordinates", [HEXAGON.astype(complex), HEXAGON.astype(str), None, HEXAGON.astype(object)])
def test_refused_types(coordinates):
    with pytest.raises(InputTypeError, match="coordinates must hold real numbers"):
        cremer_pople(coordinates)
