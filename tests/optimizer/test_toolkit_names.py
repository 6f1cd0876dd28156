"""A namespace of the toolkit may be opened where host text has none of its names."""

from __future__ import annotations

import pytest

from optimizer.boundary import violations

ORIGINAL = """#include <cuda_runtime.h>
#include <vector>
#define ROUND(n, by) (((n) + (by) - 1) / (by))
__device__ float twice(float v) { return 2 * v; }
__global__ void k(const float* x, float* y, int n) {
    int size = blockIdx.x * blockDim.x + threadIdx.x;
    if (size < n) y[size] = twice(x[size]);
}
void run(std::vector<float>& all, const float* x, float* y) {
    int n = all.size();
    k<<<ROUND(n, 256), 256>>>(x, y, n);
}
"""
HEADERS = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
OPENED = "using namespace cooperative_groups;\n"
BODY = (
    "thread_block block = this_thread_block(); block.sync();"
    " auto tile = tiled_partition<32>(block); y[0] = reduce(tile, x[0], plus<float>());"
)


def added(original: str, opened: str = HEADERS + OPENED, body: str = BODY) -> tuple[str, ...]:
    """Judge an original with a namespace opened behind its headers, and with a body that uses it."""
    head, _, rest = original.partition("#define")
    return violations(
        original, f"{head}{opened}#define{rest}".replace("int size", f"{body} int size")
    )


def test_cooperative_groups_may_be_opened() -> None:
    """Beside names that only device code or a member of something has."""
    assert added(ORIGINAL) == ()
    assert added(ORIGINAL, f"{HEADERS}namespace own {{ {OPENED} }}\n") == ()
    assert added(ORIGINAL, HEADERS, OPENED + BODY) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int n = all", "int wait = 0; int n = all"),
        ("int n = all", "extern int reduce(int); int n = all"),
        ("void run(", "namespace app { int sync(); }\nvoid run("),
        ("void run(", "int less = 3;\nvoid run("),
        ("(n) + (by)", "size(n) + (by)"),
        ("void run(", "#if 0\nint sync();\n#endif\nvoid run("),
        ("all.size();", "all.size < 3 > (all);"),
        ("all.size();", "::size(all);"),
        ("all.size();", "app::size(all);"),
        ("__global__ void k(", "__global__ void plus("),
        ("__device__ float twice", "__device__ float reduce(float v) { return v; }\n__device__ float twice"),
        ("256>>>", "thread_rank>>>"),
        ("#include <vector>", '#include "checks.h"'),
        ("#include <vector>", '#include "cutils.h"'),
    ],
)  # fmt: skip
def test_a_namespace_stays_closed_where_host_text_may_have_one_of_its_names(
    old: str, new: str
) -> None:
    """An overload of it could be taken, whatever host text means by the name."""
    original = ORIGINAL.replace(old, new).replace("k<<<", "plus<<<" if "plus" in new else "k<<<")
    assert old in ORIGINAL
    assert added(original, HEADERS, "") == ()
    assert added(original)


@pytest.mark.parametrize(
    "opened",
    [
        OPENED + HEADERS,
        HEADERS + "using namespace cooperative_groups::details;\n",
        HEADERS + "using namespace cub;\n",
        HEADERS + "using namespace cuda;\n",
        HEADERS + "using namespace std;\n",
        HEADERS + "#define nvcuda std\nusing namespace nvcuda;\n",
        HEADERS + "#define cg std\nnamespace cg = cooperative_groups;\n",
        HEADERS + "namespace app { namespace std = cuda::std; }\n",
        HEADERS + "namespace by = cooperative_groups;\n",
        HEADERS + "inline namespace own { " + OPENED + "}\n",
        HEADERS + "#define cooperative_groups std\n" + OPENED,
    ],
)
def test_no_other_namespace_is_opened_nor_in_front_of_headers(opened: str) -> None:
    """Headers would find its names, and the names of others are not known."""
    assert added(ORIGINAL, opened, "")


@pytest.mark.parametrize("name", ["std", "cub", "own", "_GLIBCXX_STD_A", "THRUST_NS"])
def test_a_namespace_that_could_be_a_headers_is_not_added_to(name: str) -> None:
    """By its name, or as a macro that stands for it."""
    kind = "struct Kind { int a; };"
    macro = "#define own std\n" if name == "own" else ""
    assert added(ORIGINAL, f"namespace mine {{ {kind} }}\n", "") == ()
    assert added(ORIGINAL, f"{macro}namespace {name} {{ {kind} }}\n", "")
