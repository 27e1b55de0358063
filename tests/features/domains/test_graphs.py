from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from twosample.errors import InputError, InputTypeError
from twosample.features.domains import WeisfeilerLehman

KERNEL = WeisfeilerLehman()


class LikeNetworkx:
    """What the kernel asks of a networkx graph."""

    def __init__(self, nodes, edges, directed=False):
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def nodes(self, data):
        assert data
        return list(self._nodes.items())

    def edges(self):
        return list(self._edges)

    def is_directed(self):
        return self._directed


def kinds(matrix, labels, rounds):
    """Kinds of nodes as nested tuples, counted over all rounds: no digests, no numbers."""
    now = [("label", label) for label in labels]
    total = Counter(now)
    for _ in range(rounds):
        now = [
            (kind, tuple(sorted((now[other] for other in np.flatnonzero(matrix[node])), key=repr)))
            for node, kind in enumerate(now)
        ]
        total.update(now)
    return total


def cosine(one, other):
    product = sum(count * other[kind] for kind, count in one.items())
    return product / np.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 6))
    upper = draw(st.lists(st.booleans(), min_size=count * count, max_size=count * count))
    matrix = np.triu(np.array(upper).reshape(count, count), 1)
    return (matrix | matrix.T).astype(int)


@settings(max_examples=60, deadline=None)
@given(graphs(), graphs(), st.integers(0, 3))
def test_it_is_the_cosine_of_counted_kinds(one, other, rounds):
    expected = cosine(kinds(one, [0] * len(one), rounds), kinds(other, [0] * len(other), rounds))
    assert KERNEL([one], [other], rounds)[0, 0] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.randoms())
def test_the_order_and_the_names_of_nodes_do_not_matter(matrix, random):
    order = list(range(len(matrix)))
    random.shuffle(order)
    edges = [(f"n{order[a]}", f"n{order[b]}") for a, b in zip(*np.nonzero(matrix), strict=True)]
    nodes = {f"n{place}": {} for place in order}
    others = [
        matrix[np.ix_(order, order)],
        sparse.csr_array(matrix),
        (edges, dict.fromkeys(nodes, "")),
        LikeNetworkx(nodes, edges),
    ]
    for rounds in (0, 1, 3):
        np.testing.assert_allclose(KERNEL([matrix], others, rounds), 1.0)


def test_what_it_sees_and_what_it_does_not():
    path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    assert KERNEL([path], [star], 0)[0, 0] == pytest.approx(1.0)
    assert KERNEL([path], [star], 1)[0, 0] < 0.95
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    ring = [(place, (place + 1) % 6) for place in range(6)]
    assert KERNEL([triangles], [ring], 5)[0, 0] == pytest.approx(1.0)  # a known limit of these histograms


def test_labels_count():
    edges = [(0, 1), (1, 2)]
    oxygen, carbon = {0: "C", 1: "O", 2: "C"}, {0: "C", 1: "C", 2: "C"}
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    for rounds in (0, 1, 2):
        expected = cosine(kinds(matrix, "COC", rounds), kinds(matrix, "CCC", rounds))
        assert KERNEL([(edges, oxygen)], [(edges, carbon)], rounds)[0, 0] == pytest.approx(expected)
        one, other = (
            LikeNetworkx({node: {"element": label} for node, label in labels.items()}, edges)
            for labels in (oxygen, carbon)
        )
        assert WeisfeilerLehman(label="element")([one], [other], rounds)[0, 0] == pytest.approx(expected)
        assert KERNEL([one], [other], rounds)[0, 0] == pytest.approx(1.0)  # labels that were not asked for
    assert KERNEL([([], {0: 1})], [([], {0: "1"})], 0)[0, 0] == 0.0


def test_directions_count_where_there_are_any():
    into, out_of = np.zeros((2, 4, 4))
    into[1:, 0], out_of[0, 1:] = 1, 1
    assert KERNEL([into], [out_of], 1)[0, 0] < 0.95
    nodes, edges = {node: {} for node in range(4)}, [(1, 0), (2, 0), (3, 0)]
    assert KERNEL([into], [LikeNetworkx(nodes, edges, directed=True)], 2)[0, 0] == pytest.approx(1.0)
    assert KERNEL([into + into.T], [LikeNetworkx(nodes, edges)], 2)[0, 0] == pytest.approx(1.0)


def test_an_edge_that_is_there_twice_is_there_once():
    assert KERNEL([[(0, 1), (1, 0), (0, 1)]], [[(0, 1)]], 3)[0, 0] == pytest.approx(1.0)


def test_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    graph.add_node("alone")
    edges = list(graph.edges()), dict.fromkeys(graph.nodes(), "")
    for rounds in (1, 2, 3):
        assert KERNEL([graph], [edges], rounds)[0, 0] == pytest.approx(1.0)


def test_refusals():
    with pytest.raises(InputTypeError, match=r"some: object 0, of type int, is no graph .*pass networkx graphs"):
        KERNEL([3], [[(0, 1)]], 1)
    with pytest.raises(InputTypeError, match=r"a square array is needed, not one of shape \(2, 3\)"):
        KERNEL([np.zeros((2, 3))], [[(0, 1)]], 1)
    with pytest.raises(InputTypeError, match="not text"):
        KERNEL(["ab"], [[(0, 1)]], 1)
    with pytest.raises(InputError, match="some: graph 1 has no nodes; leave it out"):
        KERNEL([[(0, 1)], []], [[(0, 1)]], 1)
    with pytest.raises(InputError, match=r"graph 0 lacks a label of a node \('element'\)"):
        WeisfeilerLehman(label="element")([LikeNetworkx({0: {}}, [])], [[(0, 1)]], 1)
    with pytest.raises(InputError, match="parameters: must be at least 0, not -1"):
        KERNEL([[(0, 1)]], [[(0, 1)]], -1)
