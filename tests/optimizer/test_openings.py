"""Edits that only open the way to better ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimizer.model import Edit, Proposal
from optimizer.openings import DEEPEST, EDITS, Openings
from optimizer.tree import Node
from tests.optimizer.test_tree import grow, planted


class Told:
    """What a policy says of candidates by number: kinds and their priors."""

    def __init__(self, said: Mapping[int, Mapping[str, float]]) -> None:
        self.said = said
        self.asked: list[int] = []

    def __call__(self, node: Node) -> Sequence[Proposal]:
        self.asked.append(node.step.number)
        kinds = self.said.get(node.step.number, {})
        return [Proposal(Edit(k, k, "rule:x", kind=k), p) for k, p in kinds.items()]


def test_a_candidate_where_a_promising_kind_becomes_possible_is_built_upon_at_once() -> None:
    tree = planted()
    told = Told({0: {"unroll": 0.4}, 1: {"unroll": 0.9}, 2: {"warp-per-row": 0.9, "ilp": 0.2}})
    openings = Openings(tree, told)
    assert openings.next() is None, "what the original offers is no opening"
    grow(tree, tree.root, 0.04)
    opened = grow(tree, tree.root, 0.01)
    assert [openings.next() for _ in range(EDITS)] == [opened] * EDITS
    assert openings.next() is None


def test_a_kind_opens_a_way_once_and_a_weak_one_never() -> None:
    tree = planted()
    openings = Openings(tree, Told({1: {"a": 0.9}, 2: {"a": 0.9}, 3: {"b": 0.5}}))
    for _ in range(3):
        grow(tree, tree.root, 0.1)
    found = [openings.next() for _ in range(6)]
    assert found == [tree.nodes[1]] * EDITS + [None] * (6 - EDITS)


def test_failures_losses_and_candidates_far_down_are_not_asked_about() -> None:
    tree = planted()
    told = Told({})
    openings = Openings(tree, told)
    grow(tree, tree.root, -1.0)
    grow(tree, tree.root, -0.5)
    node = tree.root
    for _ in range(DEEPEST + 1):
        node = grow(tree, node, node.step.reward + 0.1)
    assert openings.next() is None
    assert told.asked == [0, 3, 4, 5]


def test_a_candidate_that_was_given_up_meanwhile_is_left_out() -> None:
    tree = planted()
    openings = Openings(tree, Told({1: {"a": 0.9}}))
    node = grow(tree, tree.root, 0.1)
    assert openings.next() is node
    tree.exhaust(node)
    assert openings.next() is None
