"""What host code allocates is counted as its own, by a runtime that is made up here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runners import allocations
from tests import once

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

RUNTIME = """
#include <cstdlib>
#include <cstddef>
extern "C" int cudaMalloc(void **p, size_t n) {
    if (n > (1u << 30)) return 2;
    return *p = malloc(n), 0;
}
extern "C" int cudaFree(void *p) { return free(p), 0; }
extern "C" int cudaMallocAsync(void **p, size_t n, void *) { return *p = malloc(n), 0; }
extern "C" int cudaFreeAsync(void *p, void *) { return free(p), 0; }
"""
CALLER = """
#include <cstddef>
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaFree(void *);
extern "C" int cudaMallocAsync(void **, size_t, void *);
extern "C" int cudaFreeAsync(void *, void *);
static void *kept;
extern "C" void run() {
    void *a, *b;
    if (!kept) cudaMalloc(&kept, 1000);
    cudaMalloc(&a, 500);
    cudaMallocAsync(&b, 300, nullptr);
    cudaFree(a);
    cudaFreeAsync(b, nullptr);
    cudaMalloc(&a, 400);
    cudaFree(a);
    void *none = nullptr;
    cudaMalloc(&none, size_t(1) << 40);
    cudaFree(nullptr);
}
"""
# In an interpreter of its own: symbols that are once global stay so.
SCRIPT = """
import ctypes, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from runners.allocations import Allocations
counter = Allocations(Path(sys.argv[1]))
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
pair = [ctypes.CDLL(path) for path in sys.argv[3].split(":")]
owners = [counter.owner() for _ in pair]
for _ in range(3):
    for owner, one in zip(owners, pair):
        counter.begins(owner)
        one.run()
print(json.dumps([counter.most(owner) for owner in (*owners, 99)]))
"""


def _library() -> Path:
    def make(folder: Path) -> None:
        allocations.library(folder)

    return allocations.library(once.built("allocations", "", make))


def _compiled(folder: Path, name: str, text: str, *flags: str) -> Path:
    source, target = folder / f"{name}.cpp", folder / f"{name}.so"
    source.write_text(text)
    command = [str(COMPILER), "-shared", "-fPIC", "-w", str(source), "-o", str(target), *flags]
    subprocess.run(command, check=True)
    return target


def test_the_most_that_each_of_two_held_at_once_is_told_apart(tmp_path: Path) -> None:
    """Kept, freed and failed allocations, through both interfaces, of each side its own."""
    library = _library()
    runtime = _compiled(tmp_path, "libcudart", RUNTIME, "-Wl,-soname,libcudart.so.13")
    link = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", str(runtime)]
    pair = [_compiled(tmp_path, name, CALLER, *link) for name in ("one", "two")]
    # The second allocates twice as much.
    pair[1] = _compiled(tmp_path, "two", CALLER.replace("500", "5000"), *link)
    root = str(Path(allocations.__file__).parents[2])
    command = [sys.executable, "-c", SCRIPT, str(library), str(runtime), ":".join(map(str, pair))]
    done = subprocess.run([*command, root], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [1800, 6300, 0]


def test_without_a_runtime_nothing_is_allocated() -> None:
    """A call that nothing answers fails, as on a machine without the runtime."""
    library = _library()
    code = (
        "import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); p = ctypes.c_void_p();"
        "print(l.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(8)), p.value, l.optiml_allocated(0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(library)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["801", "None", "0"]
