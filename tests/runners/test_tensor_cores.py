"""A candidate that multiplies on tensor cores is told by its code, whatever its comments say."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners import tensor_cores
from runners.compare import Answer
from runners.judge import Judge
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _verdict

PRODUCT = "\twgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1}, %rd1, %rd2, p, 1, 1;"
PLAIN = "\tfma.rn.f32 %f1, %f2, %f3, %f4;"


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("text", "mine", "theirs", "wider"),
    [
        (SCALE + "// mma", PRODUCT, PLAIN, True),
        (SCALE + "// mma", PLAIN, PLAIN, False),
        (SCALE + "// mma", PRODUCT, PRODUCT, False),
        (SCALE + "// mma", PRODUCT, "", False),
    ],
)
def test_its_line_is_wider_by_its_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mine: str, theirs: str, wider: bool
) -> None:
    seen = []

    def allowed(answer: Answer) -> Answer:
        seen.append(answer.name)
        return answer

    monkeypatch.setattr(tensor_cores, "allowed", allowed)
    codes = {text: mine, SCALE: theirs}
    judge = Judge(
        HostGpu(), 0, tmp_path, lambda _text, _job: None, device_code=lambda one, _job: codes[one]
    )
    judge._oracle = HostOracle(tmp_path, 0, lambda one, _job: artifact(one))
    assert _verdict(judge, text)["status"] == "correct"
    judge.close()
    assert bool(seen) == wider
