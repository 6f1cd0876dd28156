"""Mutants change one place, stay inside the edit boundary and are the same for the same seed."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.syntax import Syntax
from tests.redteam import mutation
from tests.redteam.faults import OPERATORS, faults, sound
from tests.redteam.mutation import Json, Mutant, choose, mutant, parents, table
from tests.redteam.run import Outcome, Served, Team
from tests.redteam.table import Candidate

# What is left out by some operators, and the word it begins with.
FORGOTTEN = {"else": "else", "tail": "for"}


@functools.cache
def sown() -> list[Candidate]:
    return parents()[::7]


@functools.cache
def chosen() -> list[Mutant]:
    """Choose once, and not while tests are collected: every process that runs some collects all."""
    return choose(sown(), 70, 5)


def kernel(body: str, parameters: str = "const float* x, float* y, int n") -> str:
    return f"__global__ void k({parameters}) {{\n{body}\n}}\n"


def made(operator: str, body: str, parameters: str = "const float* x, float* y, int n") -> set[str]:
    """Return the bodies that an operator makes of one, without blanks."""
    text = kernel(body, parameters)
    head, tail = text.split(body)
    return {
        "".join(one.text.removeprefix(head).removesuffix(tail).split())
        for one in faults(text)
        if one.operator == operator
    }


@pytest.mark.parametrize(
    ("operator", "body", "bodies"),
    [
        ("barrier", "y[0] = 1; __syncthreads(); y[1] = y[0];", {"y[0]=1;;y[1]=y[0];"}),
        ("barrier", "if (n) __syncwarp();", {"if(n);"}),
        (
            "barrier-moved",
            "y[0] = 1; __syncthreads(); y[1] = y[0];",
            {"__syncthreads();y[0]=1;y[1]=y[0];", "y[0]=1;y[1]=y[0];__syncthreads();"},
        ),
        ("fence", "y[0] = 1; __threadfence(); y[1] = 1;", {"y[0]=1;;y[1]=1;"}),
        ("fence", 'asm volatile("cp.async.wait_group 0;" ::: "memory");', {";"}),
        ("fence", 'asm volatile("cp.async.commit_group;" ::: "memory");', set()),
        ("volatile", "y[0] = *(volatile float*)y;", {"y[0]=*(float*)y;"}),
        (
            "mask",
            "y[0] = __shfl_down_sync(0xffffffffu, y[0], 1);",
            {"y[0]=__shfl_down_sync(0xffffu,y[0],1);"},
        ),
        ("atomic", "atomicAdd(&y[n], 1.f);", {"y[n]+=1.f;"}),
        ("atomic", "atomicMax(y + n, 1);", {"*(y+n)=max(*(y+n),1);"}),
        ("atomic", "int k = atomicAdd(y, 1);", {"intk=((*(y)+=1)-(1));"}),
        ("loop-bound", "for (int i = 0; i < n; ++i) y[i] = 0;", {"for(inti=0;i<=n;++i)y[i]=0;"}),
        ("loop-bound", "for (int w = 16; w > 0; w /= 2) y[w] = 0;", set()),
        ("loop-start", "for (int w = 16; w; w /= 2) y[w] = 0;", {"for(intw=(16)/2;w;w/=2)y[w]=0;"}),
        ("loop-start", "for (int i = n; i < 9; i++) y[i] = 0;", {"for(inti=n+1;i<9;i++)y[i]=0;"}),
        ("loop-step", "for (int w = 16; w; w >>= 1) y[w] = 0;", {"for(intw=16;w;w>>=1+1)y[w]=0;"}),
        ("loop-step", "for (int i = 0; i < n; ++i) y[i] = 0;", {"for(inti=0;i<n;i+=2)y[i]=0;"}),
        ("guard", "if (n > 1) y[1] = 0;", {"y[1]=0;"}),
        ("guard", "if (n > 1) return; y[1] = 0;", {";y[1]=0;"}),
        ("guard", "if (n > 1) y[1] = 0; else y[0] = 1;", set()),
        ("guard", "for (;;) { if (n > 1) break; }", set()),
        ("guard-bound", "if (n >= 1) y[1] = 0;", {"if(n>1)y[1]=0;"}),
        (
            "condition",
            "if (n > 1 && x[n] > 0) y[1] = 0;",
            {"if(n>1)y[1]=0;", "if(x[n]>0)y[1]=0;"},
        ),
        ("else", "if (n > 1) y[1] = 0; else y[0] = 1;", {"if(n>1)y[1]=0;"}),
        (
            "else",
            "if (n > 2) y[1] = 0; else if (n > 1) y[1] = 1; else y[0] = 1;",
            {
                "if(n>2)y[1]=0;elsey[0]=1;",
                "if(n>2)y[1]=0;elseif(n>1)y[1]=1;",
            },
        ),
        (
            "tail",
            "int i = 0; for (; i + 1 < n; i += 2) y[i] = 0; for (; i < n; ++i) y[i] = 0;",
            {"inti=0;for(;i+1<n;i+=2)y[i]=0;;"},
        ),
        ("index", "y[n * 2 + 1] = 0;", {"y[n*2]=0;", "y[1]=0;"}),
        ("constant", "y[n * 2] = 0xffu;", {"y[n*3]=0xffu;", "y[n*2]=0x100u;"}),
        ("constant", "__shared__ float s[32]; constexpr int K = 3;", set()),
        ("real-constant", "y[0] = 0.044715f * x[0];", {"y[0]=0.044815f*x[0];"}),
        ("real-constant", "y[0] = 1.f - x[0];", {"y[0]=2.f-x[0];"}),
        ("real-constant", "y[0] = 0.f;", set()),
        ("sign", "y[0] += x[0] - x[1];", {"y[0]-=x[0]-x[1];", "y[0]+=x[0]+x[1];"}),
        ("sign", "for (int i = 0; i + 1 < n; i += 2) y[i] = 0;", set()),
        ("initialisation", "float s = 0.f; s += x[0]; y[0] = s;", {"floats;s+=x[0];y[0]=s;"}),
        ("initialisation", "const float s = 0.f; y[0] = s;", set()),
        (
            "initialisation",
            "__shared__ int s[32]; s[threadIdx.x] = 0;",
            {"__shared__ints[32];;"},
        ),
        ("infinity", "float m = -INFINITY;", {"floatm=0;"}),
        ("extreme", "y[0] = fmaxf(x[0], x[1]);", {"y[0]=fminf(x[0],x[1]);"}),
        ("precision", "double s = x[0]; y[0] = s;", {"floats=x[0];y[0]=s;"}),
        ("precision", "float s = (double)x[0];", {"floats=(float)x[0];"}),
        ("width", "y[(size_t)n * 3] = 0;", {"y[(int)n*3]=0;"}),
        ("width", "y[static_cast<size_t>(n) * 3] = 0;", {"y[static_cast<int>(n)*3]=0;"}),
        ("width", "long long i = n;", {"inti=n;"}),
        ("width", "long long* p = nullptr;", set()),
    ],
)
def test_an_operator_makes_the_faults_it_is_named_for(
    operator: str, body: str, bodies: set[str]
) -> None:
    assert made(operator, body) == bodies


def test_rounding_is_that_of_an_intermediate_in_float() -> None:
    (one,) = made("rounding", "float s = x[0] * x[1]; int k = n * 2;")
    assert one.startswith("floats=__uint_as_float(")
    assert "__float_as_uint(x[0]*x[1])" in one
    assert one.endswith("intk=n*2;")


def test_comments_host_code_and_what_if_turns_off_are_left_alone() -> None:
    text = (
        kernel("// if (n < 1) __syncthreads();\n/* y[0] + 1 */ y[0] = x[0];")
        + "#if 0\n__global__ void off(float* y) { y[0] += 1.f; }\n#endif\n"
        + "int main() { int n = 1 + 2; return n < 3; }\n"
        + "__host__ __device__ int both(int n) { return n + 1; }\n"
    )
    found = faults(text)
    assert {one.operator for one in found} == {"constant", "rounding"}
    assert {one.line for one in found} == {3}


def test_a_mutant_differs_from_its_parent_in_its_place_only() -> None:
    for one in chosen():
        text, (low, high) = one.parent.source, one.fault.place
        new = one.candidate.source
        assert new != text
        assert new.startswith(text[:low])
        assert new.endswith(text[high:])
        # What is moved counts where it was and where it is, not what stands between the two.
        gone, come = Counter(text) - Counter(new), Counter(new) - Counter(text)
        if one.fault.operator in FORGOTTEN:  # as long as its author liked, and gone whole
            assert text[low:high].lstrip().startswith(FORGOTTEN[one.fault.operator])
            assert new[low : low + len(new) - len(text) + high - low] in {"", ";"}
        else:
            assert gone.total() + come.total() < 600
        assert one.diff.count("\n-") + one.diff.count("\n+") >= 1


def test_a_mutant_is_sound_and_within_the_boundary() -> None:
    for one in chosen():
        text = one.candidate.source
        assert not Syntax(text).root.has_error or Syntax(one.parent.source).root.has_error
        base = one.parent.base
        assert not violations(base.source, text, allow_host=base.edit_host)
        assert one.candidate.expect == "refuse"
        assert one.candidate.launch == one.parent.launch
        assert sound(one.parent.source, one.fault)


def test_the_same_seed_chooses_the_same_and_another_does_not() -> None:
    assert choose(sown(), 70, 5) == chosen()
    assert {one.label for one in choose(sown(), 70, 6)} != {one.label for one in chosen()}
    assert len({one.label for one in chosen()}) == len(chosen()) == 70


def test_no_operator_and_no_original_has_most_of_them_and_no_place_is_used_twice() -> None:
    by_operator = Counter(one.fault.operator for one in chosen())
    assert len(by_operator) >= len(OPERATORS) - 3
    assert max(by_operator.values()) <= 4
    by_base = Counter(one.parent.base.name for one in chosen())
    assert max(by_base.values()) <= 2 * mutation.EACH
    places: dict[str, list[tuple[int, int]]] = {}
    for one in chosen():
        for low, high in places.get(one.parent.label, ()):
            assert one.fault.place[1] <= low or high <= one.fault.place[0]
        places.setdefault(one.parent.label, []).append(one.fault.place)


def test_a_table_tells_what_was_killed_from_what_was_not_judged() -> None:
    def row(operator: str, status: str, stage: str, layer: str) -> dict[str, object]:
        accepted = status == "correct"
        return {
            "label": "a/b", "operator": operator, "diff": "-x\n+y", "status": status,
            "stage": stage, "layer": layer, "accepted": accepted,
        }  # fmt: skip

    text = table([
        row("barrier", "wrong", "screen", "oracle"),
        row("barrier", "wrong", "confirm", "sanitizer"),
        row("barrier", "correct", "confirm", "correct"),
        row("mask", mutation.SAME, "compile", ""),
        row("mask", mutation.BROKEN, "compile", ""),
    ])  # fmt: skip
    assert "| barrier | 3 | 2 | 1 | 1 | 0 | 0 |" in text
    assert "| mask | 0 | 0 | 0 | 0 | 1 | 1 |" in text
    assert "| all | 3 | 2 | 1 | 1 | 1 | 1 |" in text
    assert text.count("```diff") == 1


def test_a_list_needs_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "parents", lambda: sown()[:4])
    assert mutation.main([str(tmp_path), "--list", "--count=6", "--seed=3"]) == 0
    rows = json.loads((tmp_path / "mutation.json").read_text())
    assert len(rows) == 6
    assert all(one["diff"].startswith("@@") for one in rows)


def test_labels_name_parent_operator_and_line() -> None:
    parent = next(one for one in parents() if one.label == "rowsum/warp_shuffle")
    one = next(f for f in faults(parent.source) if f.operator == "mask")
    made_of = mutant(parent, one)
    assert isinstance(made_of, Mutant)
    assert made_of.label == f"rowsum/warp_shuffle~mask@{one.line}"


@pytest.mark.parametrize(("code", "asked"), [("a", False), ("b", True)])
def test_a_mutant_with_its_parents_machine_code_is_not_judged(
    code: str, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = chosen()[0]
    built, parent = (Future[Json](), Future[Json]())
    built.set_result({"path": "x", "machine_code": "a"})
    parent.set_result({"path": "y", "machine_code": code})
    team = object.__new__(mutation.Sown)
    team._parents = {one.label: parent}
    judged: list[str] = []
    monkeypatch.setattr(
        Team, "_one", lambda _self, candidate, *_rest: judged.append(candidate.label)
    )
    outcome = Outcome(one.label, "refuse", "")
    team._one(one.candidate, outcome, built, {}, (Served(), Served()))
    assert judged == ([one.label] if asked else [])
    assert outcome.status == ("" if asked else mutation.SAME)


def test_verdicts_are_written_as_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judged(mutants: Sequence[Mutant], *_rest: object) -> Iterator[Outcome]:
        for number, one in enumerate(mutants[:5]):
            yield Outcome(one.label, "refuse", "", accepted=number == 2, status="correct")
            assert len(json.loads((tmp_path / "mutation.json").read_text())["mutants"]) > number

    monkeypatch.setattr(mutation, "parents", lambda: sown()[:4])
    monkeypatch.setattr(mutation, "device", lambda: {"gpu": "a GPU", "sm": 90})
    monkeypatch.setattr(mutation, "_judged", judged)
    assert mutation.main([str(tmp_path), "--count=6", "--seed=3"]) == 3
    rows = json.loads((tmp_path / "mutation.json").read_text())["mutants"]
    assert [one["accepted"] for one in rows] == [False, False, True, False, False]
    assert rows[2]["diff"] in (tmp_path / "mutation.md").read_text()
    assert "1 were not judged" in capsys.readouterr().out
