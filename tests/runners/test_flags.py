"""A project may set the flags on the list and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.fault import Fault
from runners.flags import allowed_flags, near

ROOT = Path("/")


@pytest.mark.parametrize(
    ("given_flags", "expected"),
    [
        (["-O3", "-std=c++17"], ["-O3", "-std=c++17"]),
        (["-D", "N=1", "-DM", "-UX"], ["-DN=1", "-DM", "-UX"]),
        (["--define-macro=B=2"], ["-DB=2"]),
        (["--std", "c++14"], ["-std=c++14"]),
        (["-Xptxas", "-O3,-v"], ["-Xptxas=-O3", "-Xptxas=-v"]),
        (["--ptxas-options=-dlcm=ca"], ["-Xptxas=-dlcm=ca"]),
        (["--maxrregcount", "64"], ["-maxrregcount=64"]),
        (
            ["--expt-relaxed-constexpr", "--extended-lambda"],
            ["--expt-relaxed-constexpr", "--extended-lambda"],
        ),
        (["-l", "cublas", "-lcurand"], ["-lcublas", "-lcurand"]),
        (["-Xcompiler", "-fopenmp"], ["-Xcompiler=-fopenmp"]),
        (["-lineinfo"], ["-lineinfo"]),
    ],
)
def test_known_flags_come_back_in_one_form(given_flags: list[str], expected: list[str]) -> None:
    assert allowed_flags(given_flags, ROOT) == expected


@pytest.mark.parametrize(
    "flag",
    [
        "-arch=sm_90", "-gencode=arch=compute_80,code=sm_80", "-ccbin=/tmp/evil", "@file",
        "--options-file=x", "-optf=x", "-rdc=true", "-dc", "-G", "-L/tmp", "-levil", "-l../x",
        "-Xcompiler=-fplugin=x.so", "-Xlinker", "-Xcompiler=-wrapper", "-DX=$(id)", "-DX=a b",
        "-include", "x.cu", "-o", "-odir=/", "--run", "-Xptxas=--output-file=x", "-I=/etc", "",
        "-keep-dir=/x", "-std=gnu++17", "-isystem", "-D", "-Xcompiler=-include", "-time=x",
    ],
)  # fmt: skip
def test_any_other_flag_is_refused_by_name(flag: str, tmp_path: Path) -> None:
    with pytest.raises(Fault) as caught:
        allowed_flags([flag], tmp_path)
    assert caught.value.kind == "ConfigError"
    assert caught.value.remedy


def test_refusing_an_architecture_says_that_the_device_decides() -> None:
    with pytest.raises(Fault, match="-arch=sm_80") as caught:
        allowed_flags(["-O3", "-arch=sm_80"], ROOT)
    assert "device decides" in caught.value.remedy


def test_fast_math_needs_the_projects_leave() -> None:
    with pytest.raises(Fault) as caught:
        allowed_flags(["--use_fast_math"], ROOT)
    assert "allow_fast_math" in caught.value.remedy
    assert allowed_flags(["-use_fast_math"], ROOT, fast_math=True) == ["-use_fast_math"]


def test_libraries_are_left_out_of_a_cubin() -> None:
    assert allowed_flags(["-lcublas"], ROOT, libraries=False) == []


def test_include_folders_stay_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    assert allowed_flags(["-I", "inc", "-I."], tmp_path) == [
        f"-I{tmp_path / 'inc'}",
        f"-I{tmp_path}",
    ]
    for folder in ("..", "/etc", "a/../../b", "out"):
        with pytest.raises(Fault, match="leads out of the project"):
            allowed_flags(["-I", folder], tmp_path)


def test_a_folder_that_was_found_may_be_anywhere_in_the_repository(tmp_path: Path) -> None:
    """Not beyond it, and without a repository only in what is named for being shared."""
    (tmp_path / "repo" / "app").mkdir(parents=True)
    app = tmp_path / "repo" / "app"
    assert near(app, "../Common") == tmp_path / "repo" / "Common"
    for folder in ("..", "../other", "../Common/../other", "../.."):
        with pytest.raises(Fault, match="leads out of the project"):
            near(app, folder)
    (tmp_path / "repo" / ".git").touch()
    assert near(app, "../Common") == tmp_path / "repo" / "Common"
    assert near(app, "inc") == app / "inc"
    for folder in ("../..", "/etc", "../../elsewhere"):
        with pytest.raises(Fault, match="leads out of the project"):
            near(app, folder)


@given(
    st.lists(
        st.text(max_size=30) | st.sampled_from(["-D", "-Xcompiler", "-I", "-l", "-std"]), max_size=5
    )
)
def test_whatever_is_let_through_has_no_shell_characters_or_spaces(flags: list[str]) -> None:
    try:
        found = allowed_flags(flags, Path("/nonexistent/project"))
    except Fault:
        return
    except ValueError as error:  # a path with a NUL byte is refused by the system
        assert "null" in str(error)  # noqa: PT017
        return
    for flag in found:
        assert flag.startswith("-I/nonexistent/project") or not set(flag) & set(
            " ;|&$`\n\"'<>(){}@\\"
        )
