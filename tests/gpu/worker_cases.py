"""Kernels for the worker's own tests: originals, candidates that are right, and ones that are not.

Each candidate is the original's text with some of it replaced, or a text of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Family:
    name: str
    source: str
    launch: Json
    arguments: list[Json]
    cases: list[Json]
    good: dict[str, str] = field(default_factory=dict)
    bad: dict[str, str] = field(default_factory=dict)
    launches: dict[str, Json] = field(default_factory=dict)
    tolerance: Json = field(default_factory=lambda: {"rtol": 1e-5, "atol": 1e-6})
    kind: str = "kernel"
    edit_host: bool = False

    def job(
        self, text: str, launch: Json | None = None, effort: str = "screen", seed: int = 1
    ) -> Json:
        def kernel(source: str, geometry: Json | None) -> Json:
            return {
                "name": self.name,
                "source": source,
                "path": f"{self.name}.cu",
                "launch": geometry or None,
            }

        return {
            "kernel": kernel(text, launch or self.launch),
            "baseline": kernel(self.source, self.launch),
            "workload": {
                "name": self.name,
                "kind": self.kind,
                "symbol": self.name,
                "arguments": self.arguments,
                "cases": self.cases,
                "tolerance": self.tolerance,
                "launch": self.launch or None,
                "build": {"flags": ["-O3", "-std=c++17"], "include": []},
                "root": ".",
                "accept": {"edit_host": self.edit_host},
            },
            "device": "cuda:0",
            "effort": effort,
            "seed": seed,
        }


def pointer(name: str, kind: str, shape: str, role: str = "input", init: str = "normal") -> Json:
    return {"name": name, "type": kind, "shape": shape, "role": role, "init": init}


def scalar(name: str, value: str, kind: str = "int") -> Json:
    return {"name": name, "type": kind, "value": value}


def case(*, time: bool = True, **values: float) -> Json:
    return {"values": values, "weight": 1.0, "time": time}


def grid(x: str, block: str = "256", shared: str = "0") -> Json:
    return {"grid": [x], "block": [block], "shared": shared, "tunable": True}


_SAXPY = """
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
SAXPY = Family(
    "saxpy",
    _SAXPY,
    grid("(n+255)/256"),
    [
        scalar("n", "n"),
        scalar("a", "2.5", "float"),
        pointer("x", "const float*", "n"),
        pointer("y", "float*", "n", "inout"),
    ],
    [case(n=1 << 20), case(n=1000, time=False), case(n=1, time=False)],
    good={
        "vectorized with tail": """
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 u = *(const float4*)(x + i), v = *(float4*)(y + i);
        v.x += a * u.x; v.y += a * u.y; v.z += a * u.z; v.w += a * u.w;
        *(float4*)(y + i) = v;
    } else for (; i < n; ++i) y[i] = a * x[i] + y[i];
}""",
        "no contraction": _SAXPY.replace("a * x[i] + y[i]", "__fadd_rn(__fmul_rn(a, x[i]), y[i])"),
    },
    bad={
        "tail forgotten": _SAXPY.replace("i < n", "i < (n & ~3)"),
        "one past the end": _SAXPY.replace("i < n", "i <= n"),
        "writes far outside": _SAXPY.replace(
            "if (i < n)", "if (i == 0) y[n + 9000] = 1.f; if (i < n)"
        ),
        "half precision": "#include <cuda_fp16.h>\n"
        + _SAXPY.replace("a * x[i] + y[i]", "__half2float(__float2half(a * x[i] + y[i]))"),
        "NaN flood": _SAXPY.replace("a * x[i] + y[i]", "__int_as_float(0x7fffffff)"),
        "clobbers its input": _SAXPY.replace(
            "if (i < n)", "if (i == 5 && n > 5) ((float*)x)[5] += 1.f; if (i < n)"
        ),
        "does nothing after 300 calls": "__device__ unsigned calls;\n"
        + _SAXPY.replace(
            "if (i < n)", "if (i == 0) atomicAdd(&calls, 1u); if (calls > 300) return; if (i < n)"
        ),
        "remembers the pointer": "__device__ float* last;\n"
        + _SAXPY.replace(
            "if (i < n)", "if (last == y) return; if (i == n - 1) last = y; if (i < n)"
        ),
        "skips by the clock": _SAXPY.replace(
            "if (i < n)",
            'long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); if (((t >> 18) & 7) == 3) return; if (i < n)',
        ),
        "null pointer": _SAXPY.replace(
            "if (i < n)", "if (i == 0) *(volatile int*)nullptr = 1; if (i < n)"
        ),
        "shape gate": _SAXPY.replace("if (i < n)", "if (n < 900 && i > 20) return; if (i < n)"),
        "large values capped": _SAXPY.replace("a * x[i] + y[i]", "fminf(a * x[i] + y[i], 100.f)"),
    },
)

_ROWSUM = """
__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += x[(size_t)r * cols + c];
    out[r] = s;
}
"""
_ROWSUM_TREE = """
__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    __shared__ float part[256];
    float s = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) s += x[(size_t)blockIdx.x * cols + c];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int w = 128; w; w /= 2) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""
ROWSUM = Family(
    "rowsum",
    _ROWSUM,
    grid("(rows+127)/128", "128"),
    [
        pointer("x", "const float*", "rows*cols"),
        pointer("out", "float*", "rows", "output"),
        scalar("rows", "rows"),
        scalar("cols", "cols"),
    ],
    [case(rows=2048, cols=1000), case(rows=3, cols=77, time=False)],
    good={"tree": _ROWSUM_TREE},
    bad={
        "barrier missing": _ROWSUM_TREE.replace(
            "part[threadIdx.x] = s;\n    __syncthreads();", "part[threadIdx.x] = s;"
        ).replace("part[threadIdx.x + w];\n        __syncthreads();", "part[threadIdx.x + w];"),
        "shared memory not written": _ROWSUM_TREE.replace(
            "part[threadIdx.x] = s;", "if (threadIdx.x < cols - 1) part[threadIdx.x] = s;"
        ),
        "half sums": "#include <cuda_fp16.h>\n"
        + _ROWSUM_TREE.replace("float s = 0.f;", "__half s = __float2half(0.f);")
        .replace("s += x[", "s = __hadd(s, __float2half(x[")
        .replace("* cols + c];", "* cols + c]));")
        .replace("= s;", "= __half2float(s);"),
        "first 960 columns": _ROWSUM_TREE.replace("c < cols", "c < (cols < 960 ? cols : 960)"),
        "answers from the first element": _ROWSUM.replace(
            "s += x[(size_t)r * cols + c];", "s += x[(size_t)r * cols];"
        ),
    },
    launches={
        name: grid("rows")
        for name in (
            "tree",
            "barrier missing",
            "shared memory not written",
            "half sums",
            "first 960 columns",
        )
    },
)

_TOTAL = """
__global__ void total(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, x[i]);
}
"""
_TOTAL_BLOCK = """
__global__ void total(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i < n ? x[i] : 0.f;
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(~0u, s, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, s);
}
"""
TOTAL = Family(
    "total",
    _TOTAL,
    grid("(n+255)/256"),
    [
        pointer("x", "const float*", "n"),
        pointer("out", "float*", "1", "inout", "zeros"),
        scalar("n", "n"),
    ],
    [case(n=1 << 18), case(n=777, time=False)],
    good={"warp sums": _TOTAL_BLOCK},
    bad={
        "lost updates": _TOTAL_BLOCK.replace("atomicAdd(out, s)", "*out += s"),
        "a warp short": _TOTAL_BLOCK.replace(
            "(threadIdx.x & 31) == 0", "(threadIdx.x & 31) == 0 && threadIdx.x > 0"
        ),
    },
    tolerance={"rtol": 1e-4, "atol": 1e-3},
)

_SOFTMAX = """
__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = in[0], s = 0.f;
    for (int c = 1; c < cols; ++c) m = fmaxf(m, in[c]);
    for (int c = 0; c < cols; ++c) s += expf(in[c] - m);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = expf(in[c] - m) / s;
}
"""
_SOFTMAX_WARP = """
__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = -INFINITY, s = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float v = in[c], top = fmaxf(m, v);
        s = s * (m == top ? 1.f : expf(m - top)) + (v == top ? 1.f : expf(v - top));
        m = top;
    }
    for (int w = 16; w; w /= 2) {
        float m2 = __shfl_xor_sync(~0u, m, w), s2 = __shfl_xor_sync(~0u, s, w), top = fmaxf(m, m2);
        s = s * (m == top ? 1.f : expf(m - top)) + s2 * (m2 == top ? 1.f : expf(m2 - top));
        m = top;
    }
    float scale = 1.f / s;
    for (int c = lane; c < cols; c += 32) y[(size_t)r * cols + c] = expf(in[c] - m) * scale;
}
"""
SOFTMAX = Family(
    "softmax",
    _SOFTMAX,
    grid("(rows+127)/128", "128"),
    [
        pointer("x", "const float*", "rows*cols"),
        pointer("y", "float*", "rows*cols", "output"),
        scalar("rows", "rows"),
        scalar("cols", "cols"),
    ],
    [
        case(rows=4096, cols=512),
        case(rows=5, cols=33, time=False),
        case(rows=1, cols=1, time=False),
    ],
    good={"online, a warp a row": _SOFTMAX_WARP},
    bad={
        "no maximum": _SOFTMAX.replace("m = fmaxf(m, in[c])", "m = 0.f"),
        "one pass too few": _SOFTMAX_WARP.replace("int w = 16;", "int w = 8;"),
        "bfloat16 exponentials": "#include <cuda_bf16.h>\n"
        + _SOFTMAX.replace(
            "expf(in[c] - m) / s", "__bfloat162float(__float2bfloat16(expf(in[c] - m))) / s"
        ),
    },
    launches={
        name: grid("(rows+3)/4", "128") for name in ("online, a warp a row", "one pass too few")
    },
)

_TRANSPOSE = """
__global__ void transpose(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h) out[(size_t)x * h + y + j] = in[(size_t)(y + j) * w + x];
}
"""
_TRANSPOSE_TILE = """
__global__ void transpose(const float* in, float* out, int w, int h) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
TRANSPOSE = Family(
    "transpose",
    _TRANSPOSE,
    {"grid": ["(w+31)/32", "(h+31)/32"], "block": ["32", "8"], "shared": "0", "tunable": False},
    [
        pointer("in", "const float*", "w*h"),
        pointer("out", "float*", "w*h", "output"),
        scalar("w", "w"),
        scalar("h", "h"),
    ],
    [case(w=2048, h=2048), case(w=100, h=37, time=False)],
    good={"tile": _TRANSPOSE_TILE},
    bad={
        "barrier missing": _TRANSPOSE_TILE.replace("__syncthreads();", ""),
        "square only": _TRANSPOSE_TILE.replace(
            "if (x < h && y + j < w) out[(size_t)(y + j) * h",
            "if (x < w && y + j < h) out[(size_t)(y + j) * w",
        ),
        "never ends": _TRANSPOSE_TILE.replace(
            "__syncthreads();",
            "__syncthreads(); while (w > 2000 && ((volatile float*)in)[0] == in[0]);",
        ),
    },
    tolerance={"rtol": 0.0, "atol": 0.0},
)

_COMPACT = """
__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 50) out[atomicAdd(count, 1)] = x[i] + i * 128;
}
"""
COMPACT = Family(
    "compact",
    _COMPACT,
    grid("(n+255)/256"),
    [
        pointer("x", "const int*", "n", init="randint:0:100"),
        pointer("out", "int*", "n", "output"),
        pointer("count", "int*", "1", "inout", "zeros"),
        scalar("n", "n"),
    ],
    [case(n=300000), case(n=99, time=False)],
    good={
        "other order": _COMPACT.replace(
            "int i = blockIdx.x", "int i = (gridDim.x - 1 - blockIdx.x)"
        ),
        "a warp at a time": """
__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && x[i] > 50;
    unsigned mask = __ballot_sync(~0u, keep), lane = threadIdx.x & 31;
    int base = 0;
    if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(~0u, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = x[i] + i * 128;
}""",
    },
    bad={
        "drops one": _COMPACT.replace("i < n &&", "i < n - 1 &&"),
        "counts without atomics": _COMPACT.replace("atomicAdd(count, 1)", "(*count)++"),
        "off by one value": _COMPACT.replace("x[i] + i * 128", "x[i] + (i == 60 ? 59 : i) * 128"),
    },
)

_MATMUL = """
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= n) return;
    float s = 0.f;
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
"""
_MATMUL_TILE = """
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float p[16][16], q[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float s = 0.f;
    for (int t = 0; t < n; t += 16) {
        p[ty][tx] = y < n && t + tx < n ? a[y * n + t + tx] : 0.f;
        q[ty][tx] = x < n && t + ty < n ? b[(t + ty) * n + x] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) s += p[ty][k] * q[k][tx];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = s;
}
"""
_TF32 = "__uint_as_float(__float_as_uint({}) & 0xffffe000u)"
MATMUL = Family(
    "matmul",
    _MATMUL,
    {"grid": ["(n+15)/16", "(n+15)/16"], "block": ["16", "16"], "shared": "0", "tunable": False},
    [
        pointer("a", "const float*", "n*n"),
        pointer("b", "const float*", "n*n"),
        pointer("c", "float*", "n*n", "output"),
        scalar("n", "n"),
    ],
    [case(n=512), case(n=37, time=False)],
    good={
        "tile": _MATMUL_TILE,
        "four sums": _MATMUL.replace(
            "for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];",
            "float u = 0.f; int k = 0; for (; k + 1 < n; k += 2) { s += a[y * n + k] * b[k * n + x]; u += a[y * n + k + 1] * b[(k + 1) * n + x]; } if (k < n) s += a[y * n + k] * b[k * n + x]; s += u;",
        ),
    },
    bad={
        "TF32": _MATMUL.replace(
            "a[y * n + k] * b[k * n + x]",
            f"{_TF32.format('a[y * n + k]')} * {_TF32.format('b[k * n + x]')}",
        ),
        "second barrier missing": _MATMUL_TILE.replace(
            "q[k][tx];\n        __syncthreads();", "q[k][tx];"
        ),
        "too many threads": _MATMUL,
    },
    launches={
        "too many threads": {
            "grid": ["1", "1"],
            "block": ["64", "64"],
            "shared": "0",
            "tunable": False,
        }
    },
    tolerance={"rtol": 1e-2, "atol": 1e-2},
)

_ENTRY = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void work(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 50; ++k) v = v * 0.99f + 0.01f;
    y[i] = v;
}
void chain(const float* x, float* y, int n) {
    work<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""
CHAIN = Family(
    "chain",
    _ENTRY,
    {},
    [pointer("x", "const float*", "n"), pointer("y", "float*", "n", "output"), scalar("n", "n")],
    [case(n=1 << 22), case(n=1000, time=False)],
    good={
        "other blocks": _ENTRY.replace("255) / 256, 256", "127) / 128, 128"),
        "prints": _ENTRY.replace(
            "    work<<<", '    printf("{\\"verdict\\": 1}\\n"); fflush(stdout); work<<<'
        ),
    },
    bad={
        "nothing": _ENTRY.replace("    work<<<", "    if (n > 0) return; work<<<"),
        "work left on another stream": _ENTRY.replace(
            "    work<<<(n + 255) / 256, 256>>>",
            "    static cudaStream_t s = [] { cudaStream_t t; cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); return t; }();"
            " work<<<(n + 255) / 256, 256, 0, s>>>",
        )
        .replace("k < 50", "k < 5000")
        .replace("v * 0.99f + 0.01f", "k < 50 ? v * 0.99f + 0.01f : v + 0.f * sinf(v)"),
        "segmentation fault": _ENTRY.replace("    work<<<", "    *(volatile int*)8 = 1; work<<<"),
        "ends the process": _ENTRY.replace("    work<<<", "    exit(0); work<<<"),
        "never returns": _ENTRY.replace(
            "    work<<<", "    for (volatile int k = 0;; ++k) {} work<<<"
        ),
        "illegal address": _ENTRY.replace("y[i] = v;", "y[(size_t)i << 34] = v;"),
        "fewer rounds at this size": _ENTRY.replace("k < 50", "k < (n > 5000 ? 40 : 50)"),
    },
    kind="entry",
    edit_host=True,
)

ALLOCATING = _ENTRY.replace(
    "    work<<<(n + 255) / 256, 256>>>(x, y, n);",
    "    float *t; if (cudaMalloc(&t, n * sizeof(float))) return;\n"
    "    work<<<(n + 255) / 256, 256>>>(x, t, n);\n"
    "    cudaMemcpyAsync(y, t, n * sizeof(float), cudaMemcpyDeviceToDevice);\n"
    "    cudaFree(t);",
)

FAMILIES = (SAXPY, ROWSUM, TOTAL, SOFTMAX, TRANSPOSE, COMPACT, MATMUL, CHAIN)
