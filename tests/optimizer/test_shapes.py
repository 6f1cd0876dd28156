"""Texts that differ in numbers only share what no number decides, and nothing else."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Parser

from optimizer import plugins, shapes, shared_facts, syntax
from optimizer import source as sources
from optimizer.boundary import violations
from optimizer.masking import mask
from optimizer.model import Edit, Kernel
from optimizer.plain_forms import plain_forms
from optimizer.policies.rules import RulePolicy
from optimizer.rules import clamped
from optimizer.source import Source
from optimizer.syntax import Syntax, span, walk
from tests.optimizer.cuda_texts import NAMES, broken, read

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HEAT = (EXAMPLES / "heat" / "heat.cu").read_text()
MATMUL = (EXAMPLES / "matmul" / "matmul.cu").read_text()
FILE = """#define BS 16
// 32 threads a warp
struct Box { float at[24]; };
__device__ float scale(float x) { return x * 2.5f; }
__global__ void __launch_bounds__(256) k(float* a, int n, float (&fixed)[40]) {
  __shared__ float tile[64][33];
  int i = blockIdx.x * 128 + threadIdx.x;
  #pragma unroll 4
  for (int j = 12; j < 48; j += 3) tile[j][7] = scale(a[i + 1e3 + j * 15]);
  if (i < n) a[i] = tile[17][0] + fixed[11];
}
int main() {
  int counts[99];
  k<<<dim3(10, 20), dim3(BS, 16)>>>(nullptr, 77, *reinterpret_cast<float (*)[40]>(counts));
  return 0;
}
"""
# A branch that closes what it did not open may stay, but not in a kernel that changes.
BRANCHES = FILE.replace("  if (i < n)", "#/**/if defined(ODD)\n  } {\n#/**/endif\n  if (i < n)")
# Indices kept in bounds, and numbers of threads that rules are shown otherwise.
BORDERS = """__device__ void again(int n) { leaf<<<n, 64>>>(); }
__global__ void blur(const float* in, float* out, int w) {
  int x = blockIdx.x * blockDim.x; x += threadIdx.x;
  int left = min(max(x - 12, 0), w - 1);
  int t = threadIdx.x;
  int late = blockIdx.x * 32 + t;
  while (late < 480) { out[late] = in[left]; late += 64; }
}
int main() { blur<<<11, 32>>>(nullptr, nullptr, 99); again(55); return 0; }
// the host passes a number, and a kernel is launched with that
"""
STATIC = FILE.replace("  int i", "  static int seen[5];\n  extern int known;\n  int i")
DIGITS = re.compile(r"[0-9]+")


def renumbered(text: str, chance: random.Random, share: float = 0.2) -> str:
    """Return a text with other digits in some places: numbers, names, comments, directives."""

    def other(found: re.Match[str]) -> str:
        if chance.random() > share:
            return found[0]
        digits = "0123456789" if chance.random() < 0.2 else "123456789"
        length = len(found[0]) + (chance.random() < 0.1)
        return "".join(chance.choice(digits) for _ in range(length))

    return DIGITS.sub(other, text)


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Begin without anything that other texts left behind."""
    forget(monkeypatch)
    return monkeypatch


def forget(patch: pytest.MonkeyPatch) -> None:
    """Take away all that texts share."""
    patch.setattr(syntax, "_shapes", shapes.Shapes(mask, 8_000_000))
    patch.setattr(syntax, "_parsed", syntax._Lately(syntax._parse, 2_000_000))
    patch.setattr(sources, "_sources", type(sources._sources)())
    patch.setattr(shared_facts, "_facts", shared_facts._Recent(384))
    patch.setattr(shared_facts, "_variables", shared_facts._Recent(192))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("[17]", "[18]", True),
        ("[17]", "[7]", False),
        ("[17]", "[07]", False),
        ("[0]", "[1]", False),
        ("#pragma unroll 4", "#pragma unroll 8", True),
        ("__launch_bounds__(256)", "__launch_bounds__(128)", True),
        ("BS 16", "BS 32", False),
        ("// 32", "// 64", False),
        ("2.5f", "3.5f", False),
        ("1e3", "1e4", False),
        ("1e3", "9e3", False),
        ("counts[99]", "counts[98]", True),
    ],
)
def test_a_shape_holds_all_but_whole_numbers_of_the_code(old: str, new: str, same: bool) -> None:
    assert old in FILE
    assert (Syntax(FILE).shape is Syntax(FILE.replace(old, new)).shape) is same


@pytest.mark.parametrize("text", ['R"1(a)1" 5;' + " " * 500, "int x = 1'000; // '\n" * 40])
def test_texts_of_peculiar_marks_share_nothing_with_others(text: str) -> None:
    other = text.replace("5;", "6;").replace("1'0", "2'0")
    assert Syntax(text).shape is not Syntax(other).shape
    assert Syntax(other).masked == mask(other)


def same_reading(text: str) -> None:
    """Check that a mask and a tree are what they are without any other text."""
    found = Syntax(text)
    assert found.masked == mask(text)
    alone = Parser(syntax._LANGUAGE).parse(found.masked.text.encode("ascii"))
    told = [(n.type, n.is_named, n.has_error, span(n)) for n in walk(found.root)]
    assert told == [(n.type, n.is_named, n.has_error, span(n)) for n in walk(alone.root_node)]


@pytest.mark.parametrize("text", [FILE, HEAT, MATMUL, *map(read, NAMES[:4])])
def test_masks_and_trees_are_those_of_the_text_itself(text: str) -> None:
    """Whatever digits of it are others than in the texts that were read before."""
    chance = random.Random(7)  # noqa: S311  a seed, no secret
    for _ in range(6):
        same_reading(renumbered(text, chance))


@settings(max_examples=25, deadline=None)
@given(broken(), st.integers(0, 2**32))
def test_those_of_mutilated_texts_are_too(text: str, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  a seed, no secret
    same_reading(text)
    same_reading(renumbered(text, chance))


def told(text: str) -> list[object]:
    """Return what a source says of its functions, nodes as spans."""
    source = Source(text)
    found: list[object] = [source.constants, source.aliases, source.members, source.spaces]
    for f in source.functions:
        found += [f.name, f.span, f.parameters and [(p.name, p.type) for p in f.parameters]]
        found += [f.templates, f.qualifiers, f.launch_bounds, f.signature.returns, f.broken]
        found += [f.pure, f.conditional, f.unknown_names, f.line, source.only_launched(f.name)]
        for v in f.variables.all:
            uses = [(span(u.node), u.role, span(u.place)) for u in v.uses]
            found.append((v.name, v.type, v.element, v.extents, v.space, v.settled, uses))
        for loop in f.loops:
            heads = [source.of(n) for n in (loop.start, loop.bound, loop.step_node)]
            found.append((span(loop.node), loop.trips, loop.step, loop.pragma, loop.name, heads))
        for a in f.accesses:
            index = a.index.terms if a.index is not None else None
            found.append((span(a.node), a.root, a.kind, a.space, index, a.thread_stride("x")))
        found.append([(t.variable.name, t.axis, t.block) for t in f.thread_ids])
        found.append([[(n, s, source.of(b)) for n, s, b in g.bounds or ()] for g in f.guards])
        found.append([(c.name, c.line, [source.of(a) for a in c.arguments]) for c in f.calls])
        found.append([source.of(n) for n in (*f.divisions, *f.double_literals)])
    for launch in source.launches:
        found.append((launch.kernel, launch.grid, launch.block, launch.span, launch.in_loop))
    shadow = clamped.shadow(source)
    clamps = [(c.span, c.low, c.most, c.step) for c in shadow.clamps] if shadow else []
    return [*found, source.words, plain_forms(source), clamps]


@pytest.mark.parametrize("text", [FILE, HEAT, MATMUL, BORDERS, *map(read, NAMES[4:7])])
def test_functions_say_of_themselves_what_they_say_alone(
    text: str, forgotten: pytest.MonkeyPatch
) -> None:
    """Facts of earlier texts of the shape are taken where no number that differs has a say."""
    chance = random.Random(3)  # noqa: S311  a seed, no secret
    texts = [text, *(renumbered(text, chance, 0.1) for _ in range(6))]
    texts += [re.sub(r"__launch_bounds__\(\d+\)", "__launch_bounds__(512)", t) for t in texts[:2]]
    shared = [told(t) for t in texts]
    for one, found in zip(texts, shared, strict=True):
        forget(forgotten)
        assert told(one) == found


def proposals(text: str) -> tuple[Edit, ...]:
    """Return what the rules propose for a text."""
    return RulePolicy(plugins.rules())._edits_of(Kernel("k", text), ())


def test_rules_propose_what_they_propose_of_a_text_alone(forgotten: pytest.MonkeyPatch) -> None:
    """Other launch bounds, factors, block shapes and numbers of the kernel before it or not."""
    first = HEAT.replace("__global__ void heat", "__global__ void __launch_bounds__(256) heat")
    texts = [first, first.replace("(256)", "(128)"), first.replace("16, 16", "64, 16")]
    texts += [t.replace("dx, 2)", "dx, 3)") for t in texts]
    shared = [proposals(text) for text in texts]
    assert all(len(found) > 3 for found in shared)
    for text, found in zip(texts, shared, strict=True):
        forget(forgotten)
        assert proposals(text) == found


@pytest.mark.parametrize("text", [FILE, HEAT, MATMUL, read(NAMES[1]), STATIC, BRANCHES])
def test_a_candidate_lies_inside_or_not_whatever_was_asked_before(
    text: str, forgotten: pytest.MonkeyPatch
) -> None:
    """Numbers of host text, of heads and of macros the host uses count, however often it passed."""
    chance = random.Random(11)  # noqa: S311  a seed, no secret
    texts = [renumbered(text, chance, 0.05) for _ in range(16)]
    asked = violations.__wrapped__
    shared = [asked(text, one) for one in (*texts, *texts)]
    for one, found in zip(texts, shared[len(texts) :], strict=True):
        forget(forgotten)
        assert asked(text, one) == found
    assert shared[: len(texts)] == shared[len(texts) :]


def test_known_candidates_of_a_shape_are_not_looked_at_whole(
    forgotten: pytest.MonkeyPatch,
) -> None:
    """Once the kernel's number and the block have been others, their next values cost a look."""
    outlined: list[str] = []
    real = violations.__wrapped__.__globals__["outline"]

    def counted(source: Source, *rest: object) -> object:
        outlined.append(source.text)
        return real(source, *rest)

    forgotten.setitem(violations.__wrapped__.__globals__, "outline", counted)
    asked = violations.__wrapped__
    first = HEAT.replace("dx, 2)", "dx, 3)").replace("block(16, 16)", "block(64, 32)")
    assert asked(HEAT, first) == ()
    count = len(outlined)
    assert asked(HEAT, first.replace("dx, 3)", "dx, 4)").replace("(64, 32)", "(32, 16)")) == ()
    assert len(outlined) == count
    assert asked(HEAT, first.replace(": 2048", ": 4096")) != ()
    assert len(outlined) == count + 1
