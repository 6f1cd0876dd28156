"""Small CUDA sources in the styles people write, for the contract suites of plugin authors.

None is meant to be hard; together they hold what rules trip over: templates, macros, namespaces,
`extern "C"`, several kernels a file, host code, comments in odd places, no braces, 64-bit indices,
shared memory, atomics, early returns, strides, half and double precision.
"""

from __future__ import annotations

from optimizer.model import Kernel, Launch

_SAXPY = """\
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""

_ROW_SUM = """\
// Sum of each row.
__global__ void row_sum(const float* in, float* out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float total = 0.0f;
        for (int c = 0; c < cols; c++) {
            total += in[row * cols + c];
        }
        out[row] = total;
    }
}

void run_row_sum(const float* in, float* out, int rows, int cols)
{
    int threads = 256;
    row_sum<<<(rows + threads - 1) / threads, threads>>>(in, out, rows, cols);
}
"""

_TRANSPOSE = """\
#define TILE 16
extern "C" __global__ void transpose(const float *in, float *out, int n) {
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  if (x < n && y < n)
    out[x * n + y] = in[y * n + x];
}
extern "C" void launch(const float *in, float *out, int n) {
  dim3 block(TILE, TILE);
  dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
  transpose<<<grid, block>>>(in, out, n);
}
"""

_MATMUL = """\
__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
  }
}
"""

_REDUCE = """\
__global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float part[256];
  int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(out, part[0]);
}
void sum(const float *in, float *out, int n) {
  block_sum<<<(n + 255) / 256, 256>>>(in, out, n);
}
"""

_HISTOGRAM = """\
#include <cstdint>
const int BINS = 64;
__global__ void histogram(const uint8_t *data, unsigned *bins, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[data[i] % BINS], 1u);
}
"""

_STENCIL = """\
namespace filters {
__global__ void blur(const float *src, float *dst, int w, int h, int radius) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= w || y >= h) return;
  float sum = 0.0, count = 0.0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      int xx = x + dx, yy = y + dy;
      if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
        sum += src[yy * w + xx];
        count += 1.0;
      }
    }
  dst[y * w + x] = sum / count;
}
}  // namespace filters
void blur(const float *src, float *dst, int w, int h) {
  filters::blur<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(src, dst, w, h, 2);
}
"""

_TEMPLATE = """\
template <typename T, int UNITS>
__device__ inline T scaled(T v, T s) { return v * s / T(UNITS); }

template <typename T>
__global__ void scale(const T *in, T *out, T s, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  out[i] = scaled<T, 4>(in[i], s);
}
template __global__ void scale<float>(const float *, float *, float, int);
template __global__ void scale<double>(const double *, double *, double, int);
"""

_NBODY = """\
struct Body { float x, y, z, mass; };
__global__ void forces(const Body *bodies, float *fx, float *fy, float *fz, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  fx[i] = 0; fy[i] = 0; fz[i] = 0;
  for (int j = 0; j < n; j++) {
    float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
    float dz = bodies[j].z - bodies[i].z;
    float d = sqrt(dx * dx + dy * dy + dz * dz + 1e-9);
    float f = bodies[j].mass / pow(d, 3.0);
    fx[i] += f * dx;
    fy[i] += f * dy;
    fz[i] += f * dz;
  }
}
"""

_CHAIN = """\
#include <math.h>
__global__ void activate(float *x, int n) { /* in place */
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0 / (1.0 + exp(-x[i]));
}
__global__ void shift(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { x[i] = x[i] + by; }
}
void chain(float *x, float by, int n) {
  activate<<<(n + 127) / 128, 128>>>(x, n);
  shift<<<(n + 127) / 128, 128>>>(x, by, n);
}
"""

_INDEX = """\
__global__ void permute(const int *in, int *out, int a, int b, int c) {
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (size_t)a * b * c) return;
  size_t k = t % c, j = (t / c) % b, i = t / ((size_t)b * c);
  out[(k * b + j) * a + i] = in[t];
}
"""

_LOCAL = """\
__device__ const int kSteps = 8;
__global__ void poly(const double *x, double *y, int n, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double c[8] = {1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125};
  if (i < n) {
    double v = 0;
    for (int k = degree % kSteps; k >= 0; k--) v = v * x[i] + c[k];
    y[i] = v;
  }
}
"""

_SPARSE = """\
__global__ void spmv(int rows, const int *__restrict__ ptr, const int *__restrict__ col,
                     const float *__restrict__ val, const float *__restrict__ x, float *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float dot = 0;
    for (int j = ptr[r]; j < ptr[r + 1]; j++)
      dot += val[j] * x[col[j]];
    y[r] = dot;
  }
}
"""

_HALF = """\
#include <cuda_fp16.h>
__global__ void gelu(const __half *in, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = __half2float(in[i]);
    out[i] = __float2half(0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))));
  }
}
"""

_MACROS = """\
#define IDX(r, c, ld) ((r) * (ld) + (c))
#define CHECK(call) do { cudaError_t e = (call); if (e) return (int)e; } while (0)
#ifdef USE_BIG
#define THREADS 512
#else
#define THREADS 128
#endif
__global__ void add_rows(const float *m, const float *v, float *o, int rows, int cols)
{
    const int c = blockIdx.x * THREADS + threadIdx.x;
    if (c < cols)
        for (int r = 0; r < rows; r++)
            o[IDX(r, c, cols)] = m[IDX(r, c, cols)] + v[r];
}
int main()
{
    float *m, *v, *o;
    CHECK(cudaMalloc(&m, 1 << 20));
    CHECK(cudaMalloc(&v, 1 << 10));
    CHECK(cudaMalloc(&o, 1 << 20));
    add_rows<<<(1024 + THREADS - 1) / THREADS, THREADS>>>(m, v, o, 256, 1024);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
"""

_SERIAL = """\
__global__ void softmax(float *x, int cols) {
  extern __shared__ float buf[];
  float *row = x + blockIdx.x * cols;
  __shared__ float top, sum;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) buf[c] = row[c];
  __syncthreads();
  if (threadIdx.x == 0) {
    top = buf[0];
    for (int c = 1; c < cols; c++) if (buf[c] > top) top = buf[c];
    sum = 0;
    for (int c = 0; c < cols; c++) sum += expf(buf[c] - top);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = expf(buf[c] - top) / sum;
}
"""


def _tunable(grid: tuple[str, ...], block: tuple[str, ...]) -> Launch:
    return Launch(grid, block, tunable=True)


SAMPLES: tuple[Kernel, ...] = (
    Kernel("saxpy", _SAXPY, "saxpy.cu", Launch(("(n+255)/256",), ("256",))),
    Kernel("run_row_sum", _ROW_SUM, "row_sum.cu"),
    Kernel("launch", _TRANSPOSE, "transpose.cu"),
    Kernel("matmul", _MATMUL, "matmul.cu", _tunable(("(N+15)/16", "(M+15)/16"), ("16", "16"))),
    Kernel("sum", _REDUCE, "sum.cu"),
    Kernel("histogram", _HISTOGRAM, "histogram.cu", _tunable(("1024",), ("256",))),
    Kernel("blur", _STENCIL, "blur.cu"),
    Kernel("scale<float>", _TEMPLATE, "scale.cu", Launch(("(n+127)/128",), ("128",))),
    Kernel("forces", _NBODY, "forces.cu", _tunable(("(n+63)/64",), ("64",))),
    Kernel("chain", _CHAIN, "chain.cu"),
    Kernel("permute", _INDEX, "permute.cu", Launch(("(a*b*c+255)/256",), ("256",))),
    Kernel("poly", _LOCAL, "poly.cu", _tunable(("(n+255)/256",), ("256",))),
    Kernel("spmv", _SPARSE, "spmv.cu", _tunable(("(rows+127)/128",), ("128",))),
    Kernel("gelu", _HALF, "gelu.cu", _tunable(("(n+255)/256",), ("256",))),
    Kernel("", _MACROS, "add_rows.cu"),
    Kernel("softmax", _SERIAL, "softmax.cu", Launch(("rows",), ("128",), "4*cols")),
)
"""Sources a rule or detector must take calmly, and usually finds something in."""

BROKEN: tuple[Kernel, ...] = (
    Kernel("k", "", "empty.cu"),
    Kernel("k", "not CUDA at all {{{ ((", "text.cu"),
    Kernel("k", "__global__ void k(float *x) { if (x", "cut.cu"),
    Kernel("k", "__global__ void k(float *x) { x[0] = 0; /* é 漢 \N{GRINNING FACE} */ }\r\n"),
    Kernel("k", "#define K __global__ void k(float *x) {\nK x[threadIdx.x] = 1; }\n", "macro.cu"),
    Kernel("missing", _SAXPY, "other.cu"),
)
"""Sources no edit needs to come from, and no exception may."""
