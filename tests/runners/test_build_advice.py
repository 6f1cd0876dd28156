"""What does not build by itself gets a way out that fits what the compiler said."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.build_advice import advice

MISSING = "main.cu:7:10: fatal error: helper.h: No such file or directory\n"


@pytest.mark.parametrize(
    ("printed", "helps"),
    [
        ("main.cu:7:10: fatal error: cublas_v2.h: No such file or directory", "beside nvcc"),
        ("x.o: undefined reference to `cublasCreate_v2'", "-lcublas]"),
        ("x.o: undefined reference to `cublasLtCreate'", "-lcublasLt]"),
        ("x.o: undefined reference to `cuLaunchKernel'", "driver API"),
        ("x.o: undefined reference to `run(float*, int)'", "run(float*, int) is in another file"),
        ("a.cu(8): error: kernel launch from __device__ requires separate compilation mode", "-rdc"),
        ("a.cu(3): error: The experimental flag '--expt-relaxed-constexpr' can be used",
         "--expt-relaxed-constexpr]"),
        ("a.cu(3): error: texture is not a template", "use texture objects"),
        ('a.cu(3): error: identifier "cudaBindTexture2D" is undefined', "use texture objects"),
        ('a.cu(3): error: identifier "__shfl_down" is undefined', "__shfl_down_sync(0xffffffff"),
        ('a.cu(3): error: identifier "y" is undefined', ""),
    ],
)  # fmt: skip
def test_each_kind_of_failure_has_its_way_out(printed: str, helps: str, tmp_path: Path) -> None:
    """A plain mistake in the code has none: the compiler says enough."""
    found = advice(printed, tmp_path)
    assert helps in found
    assert bool(found) == bool(helps)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("repo/app/inc", "include: [inc]"),
        ("repo/common/inc", "with `build: {include: [common/inc]}`"),
        ("elsewhere", "is nowhere in"),
    ],
)
def test_a_header_is_looked_for_in_the_project_and_its_repository(
    where: str, said: str, tmp_path: Path
) -> None:
    """And nowhere else: what lies beside a repository is not the project's."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/app").mkdir()
    (tmp_path / where).mkdir(parents=True)
    (tmp_path / where / "helper.h").touch()
    assert said in advice(MISSING, tmp_path / "repo/app")


def test_files_that_do_not_go_together_are_for_a_capture(tmp_path: Path) -> None:
    """Of one file alone, the compiler says enough."""
    printed = 'run.cu(9): error: function "helper" has already been defined'
    assert "optiml capture" in advice(printed, tmp_path, several=True)
    assert advice(printed, tmp_path) == ""
