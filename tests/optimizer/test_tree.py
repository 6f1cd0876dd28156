"""The tree and what a run learns of its edits."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from optimizer.budget import SearchSettings
from optimizer.ledger import Ledger, gumbel
from optimizer.model import Edit, Kernel, Proposal, Status, Step, Verdict
from optimizer.strategies import Uniform, greedy, leaders, mcts
from optimizer.tree import Node, Tree, Waiting


def step(
    number: int, parent: int | None, reward: float, kind: str = "k", same_as: int | None = None
) -> Step:
    edit = Edit(f"e{number}", str(number), "rule:x", kind=kind) if number else None
    status = Status.CORRECT if reward > -1 else Status.CRASHED
    kernel = Kernel("k", str(number))
    return Step(number, parent, edit, kernel, Verdict(status), reward, prior=0.5, same_as=same_as)


def planted(settings: SearchSettings = SearchSettings()) -> Tree:  # noqa: B008
    return Tree(step(0, None, 0.0), settings, Ledger(settings))


def grow(
    tree: Tree, parent: Node, reward: float, kind: str = "k", same_as: int | None = None
) -> Node:
    made = step(len(tree.nodes), parent.step.number, reward, kind, same_as)
    return tree.add(parent, made, reward if reward > -1 else None)


def test_rewards_are_credited_up_the_line_and_failures_cost_little() -> None:
    tree = planted()
    good = grow(tree, tree.root, 0.5)
    best = grow(tree, good, 0.8)
    grow(tree, good, -1.0)
    assert tree.root.best == good.best == best.best == 0.8
    assert tree.top is best
    assert (tree.root.visits, good.visits, best.visits) == (4, 3, 1)
    assert good.total == pytest.approx(0.5 + 0.8 + 0.4)


def test_a_failed_or_repeated_candidate_is_closed() -> None:
    tree = planted()
    failed = grow(tree, tree.root, -1.0)
    twin = grow(tree, tree.root, 0.5, same_as=0)
    assert failed.closed
    assert twin.closed
    assert not tree.root.closed


def test_a_tree_is_closed_when_nothing_is_left() -> None:
    tree = planted()
    child = grow(tree, tree.root, 0.5)
    tree.exhaust(tree.root)
    assert not tree.root.closed
    assert tree.select() is child
    tree.exhaust(child)
    assert tree.root.closed
    assert tree.select() is None


def test_virtual_visits_spread_a_batch() -> None:
    settings = SearchSettings(widen=0.0, exploration=1.0)
    tree = planted(settings)
    first, second = grow(tree, tree.root, 0.50), grow(tree, tree.root, 0.49)
    seen = []
    for _ in range(4):
        node = tree.select()
        assert node is not None
        tree.expect(node, 1)
        seen.append(node)
    assert {first, second} <= set(seen)
    for node in seen:
        tree.expect(node, -1)
    assert tree.root.pending == 0


def test_children_widen_with_visits_and_where_a_kind_has_paid() -> None:
    tree = planted(SearchSettings(widen=1.0, alpha=0.5, depth_decay=0.5, payoff=1.0))
    child = grow(tree, tree.root, 0.5, kind="good")
    assert tree.has_room(child) is False or child.visits == 1
    grow(tree, child, 0.4)
    assert not tree.has_room(child)
    tree.ledger.note(Edit("t", "s", "rule:x", kind="good"), 0.5)
    child.visits = 8
    assert tree.has_room(child)


def test_a_subtree_that_keeps_failing_is_given_up_and_taken_up_last() -> None:
    tree = planted(SearchSettings(patience=4))
    dead, live = grow(tree, tree.root, 0.2), grow(tree, tree.root, 0.5)
    for _ in range(3):
        grow(tree, dead, 0.1)
    assert not dead.pruned
    grow(tree, dead, 0.1)
    assert dead.pruned
    assert dead.closed
    tree.exhaust(tree.root)
    tree.exhaust(live)
    assert tree.select() is None
    assert mcts(tree) in (dead, *dead.children)


def test_the_line_of_the_best_is_never_given_up() -> None:
    tree = planted(SearchSettings(patience=2))
    best = grow(tree, tree.root, 0.9)
    for _ in range(20):
        grow(tree, best, 0.1)
    assert not best.pruned


def test_greedy_takes_the_best_that_is_left() -> None:
    tree = planted()
    low, high = grow(tree, tree.root, 0.2), grow(tree, tree.root, 0.7)
    assert greedy(tree) is high
    tree.exhaust(high)
    assert greedy(tree) is low
    tree.exhaust(low)
    assert greedy(tree) is tree.root
    tree.exhaust(tree.root)
    assert greedy(tree) is None


def test_random_takes_any_that_is_left_and_is_seeded() -> None:
    tree = planted()
    nodes = [grow(tree, tree.root, 0.1 * n) for n in range(5)]
    draw, again = Uniform(3), Uniform(3)
    seen = [draw(tree) for _ in range(60)]
    assert seen == [again(tree) for _ in range(60)]
    assert set(seen) == {tree.root, *nodes}
    for node in tree.nodes:
        tree.exhaust(node)
    assert draw(tree) is None


def test_leaders_are_the_best_that_are_built_upon() -> None:
    tree = planted()
    grow(tree, tree.root, 0.9, same_as=0)
    best = grow(tree, tree.root, 0.8)
    assert next(leaders(tree)) is best


def proposal(kind: str, title: str = "t", prior: float = 0.5) -> Proposal:
    return Proposal(Edit(title, "s", "rule:x", kind=kind), prior)


def weight(ledger: Ledger, kind: str, title: str = "t") -> float:
    return ledger.weight(proposal(kind, title), "d", 0)


def test_what_paid_elsewhere_comes_first_and_what_failed_twice_last() -> None:
    ledger = Ledger(SearchSettings(jitter=0.0))
    start = weight(ledger, "a")
    ledger.note(proposal("a", "x").edit, 0.5)
    ledger.note(proposal("c").edit, -0.3)
    ledger.note(proposal("d").edit, None)
    assert weight(ledger, "a", "x") > weight(ledger, "a", "y") > weight(ledger, "b") == start
    assert weight(ledger, "c") < start
    assert weight(ledger, "d") == start
    ledger.note(proposal("d").edit, None)
    assert weight(ledger, "d") < 0.5 * start


def test_siblings_of_one_kind_make_room_for_others() -> None:
    ledger = Ledger(SearchSettings(jitter=0.0))
    tree = planted()
    queue = [Waiting(proposal("a", f"{n}", 0.6), f"a{n}") for n in range(3)]
    queue.append(Waiting(proposal("b", "b", 0.5), "b"))
    tree.ledger = ledger
    taken: Counter[str] = Counter()
    order = []
    while queue:
        waiting = tree.take(queue, taken)
        taken[waiting.proposal.edit.kind] += 1
        order.append(waiting.proposal.edit.kind)
    assert order[:2] == ["a", "b"]


def test_jitter_depends_on_seed_and_candidate_alone() -> None:
    assert gumbel(1, "x") == gumbel(1, "x") != gumbel(2, "x")
    mean = sum(gumbel(0, str(n)) for n in range(4000)) / 4000
    assert math.isclose(mean, 0.5772, abs_tol=0.06)
