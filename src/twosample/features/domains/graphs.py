"""Weisfeiler–Lehman histograms of graphs: how often each kind of node occurs, by what is around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twosample.common.arguments import count_of
from twosample.errors import InputError, InputTypeError
from twosample.features.domains.counts import CountKernel, count_parts

__all__ = ["Graph", "WeisfeilerLehman"]

_DIGEST_BYTES = 8


class Graph(NamedTuple):
    """A graph as the kernel sees it."""

    labels: tuple[str, ...]  # what is known of each node beforehand
    following: tuple[tuple[int, ...], ...]  # places of the nodes that an edge of each node leads to
    preceding: tuple[tuple[int, ...], ...] = ()  # and of those from which one leads to it; empty without directions


@dataclass(frozen=True)
class WeisfeilerLehman(CountKernel):
    """The Weisfeiler–Lehman kernel: the cosine of the counts of all kinds of nodes.

    At first the kind of a node is its label. Then, again and again, it is the kind that it had and those of its
    neighbours. The parameters say how often; counts of all rounds are taken together. Unless others are given they are
    1, 2 and 3. A graph is a networkx graph, an array or sparse matrix of who is a neighbour of whom, a list of edges
    (pairs of nodes), or a pair of such a list and a dictionary of the labels of all nodes. Weights and labels of edges
    are not looked at.

    Attributes
    ----------
    label
        Of networkx graphs the attribute of a node that is its label; without one, all nodes are alike.

    Examples
    --------
    >>> triangle, path = [(0, 1), (1, 2), (2, 0)], [("a", "b"), ("b", "c")]
    >>> WeisfeilerLehman()([triangle], [triangle, path], 1).round(3)
    array([[1.   , 0.756]])
    """

    name: ClassVar[str] = "graph"
    parameters: ClassVar[tuple[int, ...]] = (1, 2, 3)

    label: str | None = None

    def check(self, parameter: object) -> int:
        """The parameter as a number of rounds."""
        return count_of(parameter, "parameters", 0)  # type: ignore[arg-type]

    def read(self, objects: Sequence[Any], argument: str) -> list[Any]:
        """The graphs as nodes with numbers."""
        return [self._one(one, argument, place) for place, one in enumerate(objects)]

    def _one(self, one: Any, argument: str, place: int) -> Graph:
        try:
            if isinstance(one, Graph):
                graph = one
            elif hasattr(one, "nodes") and hasattr(one, "edges"):
                labels = {node: "" if self.label is None else data[self.label] for node, data in one.nodes(data=True)}
                graph = _of_edges(((edge[0], edge[1]) for edge in one.edges()), labels, directed=one.is_directed())
            elif hasattr(one, "shape"):
                graph = _of_matrix(one)
            elif isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], Mapping):
                graph = _of_edges(one[0], one[1])
            else:
                graph = _of_edges(one, None)
        except KeyError as error:
            raise InputError(
                f"{argument}: graph {place} lacks a label of a node ({error.args[0]!r})",
                argument=argument,
                remedy="give every node its label",
            ) from None
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"{argument}: object {place}, of type {type(one).__name__}, is no graph ({error})",
                argument=argument,
                remedy="pass networkx graphs, lists of pairs of nodes, or square arrays",
            ) from None
        if not graph.labels:
            raise InputError(f"{argument}: graph {place} has no nodes", argument=argument, remedy="leave it out")
        return graph

    def counts(self, objects: Sequence[Any], parameters: Sequence[int]) -> list[Any]:
        """Counts of kinds of nodes for every number of rounds."""
        owners = np.repeat(np.arange(len(objects)), [len(graph.labels) for graph in objects])
        kinds = [[_digest("start", label) for label in graph.labels] for graph in objects]
        rounds = [_pooled(kinds)]
        for _ in range(max(parameters)):
            kinds = [_next_kinds(graph, known) for graph, known in zip(objects, kinds, strict=True)]
            rounds.append(_pooled(kinds))
        return [
            count_parts(np.tile(owners, 1 + last), np.concatenate(rounds[: last + 1]), len(objects))
            for last in parameters
        ]


def _pooled(kinds: list[list[bytes]]) -> Any:
    """The kinds of the nodes of all graphs as numbers."""
    return np.frombuffer(b"".join(kind for of_graph in kinds for kind in of_graph), dtype="<u8")


def _next_kinds(graph: Graph, kinds: list[bytes]) -> list[bytes]:
    found = []
    for node, following in enumerate(graph.following):
        around = b"".join(sorted(kinds[other] for other in following))
        before = b"".join(sorted(kinds[other] for other in graph.preceding[node])) if graph.preceding else b""
        found.append(_digest("next", kinds[node], around, before))
    return found


def _digest(*parts: str | bytes) -> bytes:
    """A number that stands for a kind of node, the same in all graphs: two of 2⁶⁴ are hardly ever the same."""
    total = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(len(content).to_bytes(8, "little") + content)
    return total.digest()


def _of_edges(edges: Iterable[Any], labels: Mapping[Any, Any] | None, directed: bool = False) -> Graph:
    """A graph of pairs of nodes; an edge that is there twice is there once."""
    if isinstance(edges, str | bytes):
        raise TypeError("a list of pairs of nodes is needed, not text")
    pairs = [(first, second) for first, second in edges]
    nodes = dict.fromkeys((*(labels or ()), *chain.from_iterable(pairs)))
    known = dict.fromkeys(nodes, "") if labels is None else {node: labels[node] for node in nodes}
    place = {node: number for number, node in enumerate(nodes)}
    following: list[set[int]] = [set() for _ in place]
    preceding: list[set[int]] = [set() for _ in place] if directed else following
    for first, second in pairs:
        following[place[first]].add(place[second])
        preceding[place[second]].add(place[first])
    return Graph(
        tuple(f"{type(label).__name__}:{label}" if label != "" else "" for label in known.values()),
        tuple(map(tuple, following)),
        tuple(map(tuple, preceding)) if directed else (),
    )


def _of_matrix(matrix: Any) -> Graph:
    """A graph of an array or sparse matrix; where that is not symmetric, edges have a direction."""
    dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise ValueError(f"a square array is needed, not one of shape {dense.shape}")
    linked = dense != 0
    directed = not np.array_equal(linked, linked.T)
    pairs = zip(*(places.tolist() for places in np.nonzero(linked)), strict=True)
    return _of_edges(pairs, dict.fromkeys(range(len(dense)), ""), directed)
