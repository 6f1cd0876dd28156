"""The rules of the house, kept by tests instead of by reminders."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("bot", "runners", "optimizer")
FACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in isolated mode."""
    return subprocess.run(
        [sys.executable, "-I", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def tracked() -> list[Path]:
    """List the files that git tracks; skip where there is no git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_imports_go_from_bot_to_runners_to_optimizer_and_never_back() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = python("-c", code, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def _named(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, known: set[str]) -> set[str]:
    """Return which of our modules one imports as it is imported itself."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            both = (f"{node.module}.{one.name}" for one in node.names)
            found |= {one if one in known else node.module for one in both}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return (found & known) - {_named(path)}


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Which of them is imported first decides whether that works.

    The process of entry functions once began with another one than any test does, and ended there.
    """
    known = {_named(path) for path in MODULES}
    graph = {_named(path): _imported(path, known) for path in MODULES}
    assert graph["runners.contents"]
    try:
        order = [*TopologicalSorter(graph).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert order.index("runners.contents") > order.index("runners.families")


def test_the_core_is_importable_without_gpu_network_or_front_door_packages() -> None:
    forbidden = [
        "bot",
        "runners",
        "pycuda",
        "httpx",
        "openai",
        "github",
        "fastapi",
        "distributed",
        "git",
        "dbos",
    ]
    code = f"""
import importlib, pathlib, pkgutil, sys
import optimizer
for found in pkgutil.walk_packages(optimizer.__path__, "optimizer."):
    importlib.import_module(found.name)
loaded = [name for name in {forbidden!r} if name in sys.modules]
sys.exit(f"optimizer/ loads {{loaded}}" if loaded else 0)
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_the_worker_needs_only_numpy_pycuda_and_simpleeval() -> None:
    code = """
import sys
import runners.worker
ours = {"optimizer", "bot", "pydantic", "yaml", "tree_sitter", "rich", "structlog"}
loaded = ours & {name.partition(".")[0] for name in sys.modules}
sys.exit(f"the worker loads {sorted(loaded)}" if loaded else 0)
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_what_commands_there_are_is_told_without_what_they_need() -> None:
    code = """
import sys
from bot import cli
assert cli.main(["--help"]) == 0
work = {"numpy", "tree_sitter", "pydantic", "sqlalchemy", "git", "httpx", "yaml"}
loaded = work & {name.partition(".")[0] for name in sys.modules}
sys.exit(f"the command line loads {sorted(loaded)}" if loaded else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "review" in done.stdout


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        (("-m", "bot", "--help"), "optiml"),
        (("-m", "runners.worker", "--help"), "python -I -m runners.worker"),
    ],
    ids=["bot", "worker"],
)
def test_a_hostile_checkout_cannot_have_its_own_packages_run(
    command: tuple[str, ...], ours: str, tmp_path: Path
) -> None:
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        for file in ("__init__.py", "__main__.py", "model.py", "worker.py", "cli.py"):
            (tmp_path / name / file).write_text("raise SystemExit('the checkout ran')\n")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('the checkout ran')\n")
    done = python(*command, cwd=tmp_path)
    assert "the checkout ran" not in done.stdout + done.stderr
    assert ours in done.stdout + done.stderr


def test_without_isolation_the_same_checkout_would_be_run(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "__init__.py").write_text("raise SystemExit('the checkout ran')\n")
    done = subprocess.run(
        [sys.executable, "-m", "bot"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "the checkout ran" in done.stderr, "then the test above proves nothing"


def test_every_module_says_what_it_is_for() -> None:
    bare = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not bare


def test_the_environment_is_read_by_the_settings_and_where_processes_are_started() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in MODULES
        if re.search(r"\bos\.(environ|getenv)\b", path.read_text(encoding="utf-8"))
    }
    assert readers <= {"bot/settings.py", "runners/sandbox.py", "runners/seat.py"}


def test_no_package_is_named_after_nothing_in_particular() -> None:
    empty = {"utils", "util", "helpers", "common", "manager", "base", "core", "misc"}
    assert not [path for path in MODULES if empty & {path.stem, *path.parent.parts[-1:]}]


# What must not be in a tracked file, written so that this file does not hold it either.
UNWANTED = {
    "a path of one machine": re.compile(
        "/wor" + r"k/(?:main|shared|\.)|/home/[a-z]+/|/tmp/" + "bash_"
    ),
    "an address of a package registry": re.compile(
        r"https?://[^\s\"')]*(?:pypi\.org|pythonhosted\.org|artifactory|/simple\b)"
    ),
    "unfinished work": re.compile(
        r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|NotImplemented" + "Error"
    ),
}


@pytest.mark.parametrize("what", UNWANTED)
def test_no_tracked_file_holds(what: str) -> None:
    found = []
    for path in tracked():
        if path.suffix in {".gz", ".png", ".ico", ".npy", ".ncu-rep", ".whl"}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if UNWANTED[what].search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_what_git_should_ignore_is_not_tracked() -> None:
    ignored = re.compile(
        r"(^|/)(\.venv|\.demo|__pycache__|dist|build|optiml-out|\.whl)(/|$)|\.pyc$"
    )
    assert not [path for path in tracked() if ignored.search(str(path.relative_to(ROOT)))]


@pytest.mark.parametrize(
    "name", ["requirements.lock", "requirements-dev.lock", "requirements-model.lock"]
)
def test_the_lock_files_hold_exact_versions_with_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    options = [line for line in lines if line.startswith("-")]
    assert not options, "an option line can name an index"
    pinned = [line for line in lines if not line.startswith(" ")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+-]+( ; .*)? \\", line) for line in pinned)
    assert text.count("--hash=sha256:") >= len(pinned)


def test_the_lock_files_cover_what_the_project_needs() -> None:
    def names(lines: list[str]) -> set[str]:
        found = (re.match(r"[\w.-]+", line) for line in lines)
        return {match[0].lower().replace("_", "-") for match in found if match}

    runtime = names((ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines())
    dev = names((ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines())
    needed = names(FACTS["project"]["dependencies"])
    assert needed <= runtime
    assert runtime <= dev
    assert names(FACTS["dependency-groups"]["dev"]) <= dev
    model = names((ROOT / "requirements-model.lock").read_text(encoding="utf-8").splitlines())
    assert names(FACTS["dependency-groups"]["model"]) == model


def documented(file: str) -> str:
    return (ROOT / "docs" / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("group", "file"),
    [("optiml.rules", "rules.md"), ("optiml.detectors", "writing-a-detector.md")],
)
def test_every_rule_and_every_detector_is_documented(group: str, file: str) -> None:
    text = documented(file)
    names = FACTS["project"]["entry-points"][group]
    assert names, f"no {group} is registered"
    assert not [name for name in names if f"`{name}`" not in text]


@pytest.mark.parametrize("package", ["rules", "detectors"])
def test_every_rule_and_detector_file_is_an_entry_point(package: str) -> None:
    registered = FACTS["project"]["entry-points"][f"optiml.{package}"].values()
    modules = {target.partition(":")[0].rpartition(".")[2] for target in registered}
    for module in modules:
        assert (ROOT / "optimizer" / package / f"{module}.py").is_file()


def test_every_setting_is_documented() -> None:
    from dataclasses import fields

    from bot.settings import Settings

    text = documented("settings.md")
    foreign = {"api_key": "OPENAI_API_KEY", "api_url": "OPENAI_BASE_URL", "path": ""}
    foreign["github_token"] = "GITHUB_TOKEN"
    wanted = [foreign.get(f.name, f"OPTIML_{f.name.upper()}") for f in fields(Settings)]
    assert not [name for name in wanted if name not in text]


def test_every_key_of_the_project_file_is_documented() -> None:
    from runners.project_file import SECTIONS

    text = documented("settings.md")
    keys = {key for section in SECTIONS.values() for key in section.model_fields}
    assert not [key for key in sorted(keys) if not re.search(rf"\b{key}\b", text)]


def test_every_relative_link_in_the_documents_leads_somewhere() -> None:
    broken = []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*.md")]:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        broken += [
            f"{path.relative_to(ROOT)}: {target}"
            for target in targets
            if "://" not in target and not (path.parent / target).exists()
        ]
    assert not broken


def test_the_readme_installs_and_runs_within_its_first_25_lines() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25]
    commands = [line for line in head if line.startswith("$ ")]
    assert any("scripts/demo" in line for line in commands)
    assert any("optiml run" in line for line in commands)


def test_the_wheel_holds_every_file_the_program_needs(tmp_path: Path) -> None:
    done = python(
        *("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--no-index", "--wheel-dir", str(tmp_path), str(ROOT)),
    )
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path.relative_to(ROOT))
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".so"}
    }
    assert not wanted - inside
    assert not {name for name in inside if name.split("/")[0] in {"tests", "examples", "docs"}}
