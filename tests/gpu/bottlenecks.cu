// Pairs of kernels, each with one bottleneck and a counterpart without it. Their counters, recorded
// on real devices under tests/data/ncu, are what the detectors are tested on.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// --- access pattern -----------------------------------------------------------------------------
__global__ void row_sum_strided(const float* in, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += in[r * cols + c];
    out[r] = s;
}

__global__ void row_sum_warp(const float* in, float* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) s += in[r * cols + c];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) out[r] = s;
}

__global__ void transpose_naive(const float* in, float* out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

__global__ void transpose_conflict(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_padded(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void gather_random(const int* index, const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

__global__ void pointer_chase(const int* next, int* out, int hops) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i;
    for (int h = 0; h < hops; ++h) at = next[at];
    out[i] = at;
}

// --- bandwidth ----------------------------------------------------------------------------------
__global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void saxpy_vector(const float4* x, float4* y, float a, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 p = x[i], q = y[i];
    q.x += a * p.x; q.y += a * p.y; q.z += a * p.z; q.w += a * p.w;
    y[i] = q;
}

__global__ void brighten_bytes(const unsigned char* in, unsigned char* out, int add, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = min(in[i] + add, 255);
}

// --- control flow -------------------------------------------------------------------------------
__global__ void divergent(const int* trips, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 1.f;
    for (int k = 0; k < trips[i]; ++k) s = s * 1.0001f + 0.5f;
    out[i] = s;
}

__global__ void uniform_trips(const int* trips, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 1.f;
    int t = trips[0] + 128;
    for (int k = 0; k < t; ++k) s = s * 1.0001f + 0.5f;
    out[i] = s;
}

// --- registers, local memory, occupancy ---------------------------------------------------------
__global__ void __launch_bounds__(1024, 2) spilling(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[64];
#pragma unroll
    for (int k = 0; k < 64; ++k) a[k] = in[(i + k * 1024) % n];
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int k = 0; k < 64; ++k) a[k] = a[k] * a[(k + 17) & 63] + a[(k * 5) & 63];
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < 64; ++k) s += a[k];
    out[i] = s;
}

__global__ void __launch_bounds__(128) register_heavy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[128];
#pragma unroll
    for (int k = 0; k < 128; ++k) a[k] = in[(i + k * 1024) & (n - 1)];
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int k = 0; k < 128; ++k) a[k] = a[k] * a[(k + 17) & 127] + a[(k * 5) & 127];
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < 128; ++k) s += a[k];
    out[i] = s;
}

__global__ void local_array(const int* pick, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float w[32];
    for (int k = 0; k < 32; ++k) w[k] = k * 0.25f + i;
    float s = 0.f;
    for (int k = 0; k < 64; ++k) { int j = pick[(i + k) % n] & 31; s += w[j]; w[j] = s; }
    out[i] = s;
}

__global__ void low_occupancy(const float* in, float* out, int n) {
    extern __shared__ float big[];
    int stride = gridDim.x * blockDim.x;
    float s = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        big[threadIdx.x] = in[i];
        s += big[threadIdx.x] * 1.5f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// --- atomics, barriers --------------------------------------------------------------------------
__global__ void histogram_global(const int* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] & 15], 1);
}

__global__ void histogram_private(const int* in, int* bins, int n) {
    __shared__ int mine[8][16];
    int t = threadIdx.x, w = t / 32;
    if (t < 128) mine[t / 16][t % 16] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[w][in[i] & 15], 1);
    __syncthreads();
    if (t < 16) {
        int s = 0;
        for (int k = 0; k < 8; ++k) s += mine[k][t];
        atomicAdd(&bins[t], s);
    }
}

__global__ void tree_reduce(const float* in, float* out, int n) {
    __shared__ float part[1024];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void shuffle_reduce(const float4* in, float* out, int n4) {
    __shared__ float part[32];
    int t = threadIdx.x;
    float s = 0.f;
    for (int i = blockIdx.x * blockDim.x + t; i < n4; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        s += v.x + v.y + v.z + v.w;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t < 32) {
        s = t < blockDim.x / 32 ? part[t] : 0.f;
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        if (t == 0) atomicAdd(out, s);
    }
}

__global__ void serial_thread(const float* in, float* out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t == 0) {
        float s = 0.f;
        for (int k = 0; k < 256; ++k) s += part[k];
        out[blockIdx.x] = s;
    }
}

// --- grid ---------------------------------------------------------------------------------------
__global__ void long_blocks(float* out, int trips) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i;
    for (int k = 0; k < trips; ++k) s = s * 1.0001f + 0.5f;
    out[i] = s;
}

__global__ void small_grid(float* out, int trips) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i;
    for (int k = 0; k < trips; ++k) s = s * 1.0001f + 0.5f;
    out[i] = s;
}

__global__ void many_blocks(float* out, int trips) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i, t = i + 1, u = i + 2, v = i + 3;
    for (int k = 0; k < trips; ++k) {
        s = s * 1.0001f + 0.5f; t = t * 1.0002f + 0.5f;
        u = u * 1.0003f + 0.5f; v = v * 1.0004f + 0.5f;
    }
    out[i] = s + t + u + v;
}

__global__ void tiny(float* out) { out[threadIdx.x] += 1.f; }

// --- arithmetic ---------------------------------------------------------------------------------
__global__ void double_literals(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    for (int k = 0; k < 16; ++k) v = v * 0.9 + 0.1 * v * v;
    out[i] = v;
}

__global__ void float_literals(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    for (int k = 0; k < 16; ++k) v = v * 0.9f + 0.1f * v * v;
    out[i] = v;
}

__global__ void integer_division(const int* in, int* out, int w, int h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int acc = 0;
    for (int k = 0; k < 8; ++k) {
        int j = i + k;
        acc += in[((j / (w * h)) * h + (j / w) % h) * w + j % w];
    }
    out[i] = acc;
}

__global__ void slow_math(const float* in, float* out, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i], a = 0.f;
    for (int k = 0; k < 8; ++k) {
        a += sinf(v) / (s + k) + powf(v * v + 1.f, 1.5f) + sqrtf(v * v + k);
        v += 0.1f;
    }
    out[i] = a;
}

__global__ void fast_math(const float* in, float* out, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i], a = 0.f, r = 1.f / s;
    for (int k = 0; k < 8; ++k) {
        a = fmaf(v, r, a) + v * v;
        v += 0.1f;
    }
    out[i] = a;
}

__global__ void index_heavy(const float* in, float* out, long long w, long long h, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    long long y = i / w, x = i % w;
    for (long long dy = -2; dy <= 2; ++dy)
        for (long long dx = -2; dx <= 2; ++dx) {
            long long yy = min(max(y + dy, 0LL), h - 1), xx = min(max(x + dx, 0LL), w - 1);
            s += in[yy * w + xx];
        }
    out[i] = s;
}

__global__ void accumulate_global(const float* in, float* out, int n, int terms) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 0.f;
    for (int k = 0; k < terms; ++k) out[i] += in[(long)k * n + i];
}

// --- matrix products ----------------------------------------------------------------------------
__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0.f;
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}

__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[16][64], tb[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float s[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int l = t; l < 1024; l += 256) {
            ta[l % 16][l / 16] = a[(blockIdx.y * 64 + l / 16) * n + k0 + l % 16];
            tb[l / 64][l % 64] = b[(k0 + l / 64) * n + blockIdx.x * 64 + l % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 p = *(float4*)&ta[k][ty * 4], q = *(float4*)&tb[k][tx * 4];
            float pa[4] = {p.x, p.y, p.z, p.w}, qa[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int u = 0; u < 4; ++u)
#pragma unroll
                for (int v = 0; v < 4; ++v) s[u][v] += pa[u] * qa[v];
        }
        __syncthreads();
    }
    for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v)
            c[(blockIdx.y * 64 + ty * 4 + u) * n + blockIdx.x * 64 + tx * 4 + v] = s[u][v];
}

__global__ void matmul_wmma(const half* a, const half* b, float* c, int n) {
    using namespace nvcuda::wmma;
    int w = threadIdx.x / 32, y = blockIdx.y * 64, x = blockIdx.x * 64 + w * 16;
    fragment<accumulator, 16, 16, 16, float> acc[4];
    for (int i = 0; i < 4; ++i) fill_fragment(acc[i], 0.f);
    for (int k = 0; k < n; k += 16) {
        fragment<matrix_b, 16, 16, 16, half, row_major> fb;
        load_matrix_sync(fb, b + k * n + x, n);
        for (int i = 0; i < 4; ++i) {
            fragment<matrix_a, 16, 16, 16, half, row_major> fa;
            load_matrix_sync(fa, a + (y + i * 16) * n + k, n);
            mma_sync(acc[i], fa, fb, acc[i]);
        }
    }
    for (int i = 0; i < 4; ++i)
        store_matrix_sync(c + (y + i * 16) * n + x, acc[i], n, mem_row_major);
}

// --- stencils -----------------------------------------------------------------------------------
template <int R>
__global__ void blur_naive(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < R || y < R || x >= w - R || y >= h - R) return;
    float s = 0.f;
    for (int dy = -R; dy <= R; ++dy)
        for (int dx = -R; dx <= R; ++dx) s += in[(y + dy) * w + x + dx];
    out[y * w + x] = s;
}

#define CHECK(e) do { cudaError_t r_ = (e); if (r_ != cudaSuccess) { \
    std::printf("%s: %s\n", #e, cudaGetErrorString(r_)); std::exit(1); } } while (0)

int main(int argc, char** argv) {
    const char* only = argc > 1 ? argv[1] : "";
    const int n = 1 << 24;
    float *x, *y;
    int *index, *trips, *bins;
    CHECK(cudaMalloc(&x, n * 4 * sizeof(float)));
    CHECK(cudaMalloc(&y, n * 4 * sizeof(float)));
    CHECK(cudaMalloc(&index, n * sizeof(int)));
    CHECK(cudaMalloc(&trips, n * sizeof(int)));
    CHECK(cudaMalloc(&bins, 4096));
    int* host = (int*)std::malloc(n * sizeof(int));
    unsigned long long s = 88172645463325252ull;
    for (int i = 0; i < n; ++i) {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        host[i] = (int)((s >> 20) & (n - 1));
    }
    CHECK(cudaMemcpy(index, host, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, host, n * sizeof(int), cudaMemcpyHostToDevice));
    for (int i = 0; i < n; ++i) host[i] = 16 + (host[i] % 32 == 0) * 512;
    CHECK(cudaMemcpy(trips, host, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0, n * 4 * sizeof(float)));
    CHECK(cudaMemset(x, 0x3c, n * 4 * sizeof(float)));
    CHECK(cudaFuncSetAttribute(low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    CHECK(cudaFuncSetAttribute(long_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 120000));
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    int* yi = (int*)y;
#define RUN(name, grid, block, shared, ...) \
    if (!*only || !std::strcmp(only, #name)) { name<<<grid, block, shared>>>(__VA_ARGS__); CHECK(cudaGetLastError()); }
    dim3 t2(32, 8), g2(128, 128);
    RUN(row_sum_strided, 256, 128, 0, x, y, 32768, 512)
    RUN(row_sum_warp, 4096, 256, 0, x, y, 32768, 512)
    RUN(transpose_naive, g2, t2, 0, x, y, 4096)
    RUN(transpose_conflict, g2, t2, 0, x, y, 4096)
    RUN(transpose_padded, g2, t2, 0, x, y, 4096)
    RUN(gather_random, n / 256, 256, 0, index, x, y, n)
    RUN(pointer_chase, sms, 64, 0, index, yi, 64)
    RUN(saxpy, n / 256, 256, 0, x, y, 2.f, n)
    RUN(saxpy_vector, n / 256, 256, 0, (float4*)x, (float4*)y, 2.f, n)
    RUN(brighten_bytes, n / 256, 256, 0, (unsigned char*)x, (unsigned char*)y, 3, n)
    RUN(divergent, n / 4 / 256, 256, 0, trips, y, n / 4)
    RUN(uniform_trips, n / 4 / 256, 256, 0, trips, y, n / 4)
    RUN(spilling, 1024, 1024, 0, x, y, n)
    RUN(register_heavy, 4096, 128, 0, x, y, n)
    RUN(local_array, 8192, 128, 0, index, y, n)
    RUN(low_occupancy, sms * 2, 64, 100000, x, y, n)
    RUN(histogram_global, n / 256, 256, 0, index, bins, n)
    RUN(histogram_private, sms * 8, 256, 0, index, bins, n)
    RUN(tree_reduce, n / 1024, 1024, 0, x, y, n)
    RUN(shuffle_reduce, sms * 8, 256, 0, (float4*)x, y, n / 2)
    RUN(serial_thread, n / 4 / 256, 256, 0, x, y, n / 4)
    RUN(long_blocks, sms + 8, 1024, 120000, y, 20000)
    RUN(small_grid, 16, 256, 0, y, 20000)
    RUN(many_blocks, sms * 64, 256, 0, y, 500)
    for (int k = 0; k < 20; ++k) RUN(tiny, 1, 32, 0, y)
    RUN(double_literals, n / 256, 256, 0, x, y, n)
    RUN(float_literals, n / 256, 256, 0, x, y, n)
    RUN(integer_division, n / 4 / 256, 256, 0, index, yi, 1921, 1081, n / 4)
    RUN(slow_math, n / 4 / 256, 256, 0, x, y, 1.7f, n / 4)
    RUN(fast_math, n / 256, 256, 0, x, y, 1.7f, n)
    RUN(index_heavy, n / 4 / 256, 256, 0, x, y, 2048, 2048, n / 4)
    RUN(accumulate_global, n / 16 / 256, 256, 0, x, y, n / 16, 32)
    RUN(matmul_naive, dim3(32, 128), t2, 0, x, x + n, y, 1024)
    RUN(matmul_tiled, dim3(16, 16), 256, 0, x, x + n, y, 1024)
    RUN(matmul_wmma, dim3(32, 32), 128, 0, (half*)x, (half*)x + n, y, 2048)
    RUN(blur_naive<3>, dim3(64, 256), t2, 0, x, y, 2048, 2048)
    CHECK(cudaDeviceSynchronize());
    return 0;
}
