#include <cuda_runtime.h>

// A map of cells: what a cell loses to the ground, and what passes to the east and to the south of it.
struct Map {
    const float *ground, *east, *south;
    int h, w;
};

// What goes from a cell to the four beside it, and what it loses in all.
__device__ void ends(const Map& a, size_t i, int r, int c, float to[4], float& whole) {
    to[0] = r > 0 ? a.south[i - a.w] : 0.f;
    to[1] = c > 0 ? a.east[i - 1] : 0.f;
    to[2] = c + 1 < a.w ? a.east[i] : 0.f;
    to[3] = r + 1 < a.h ? a.south[i] : 0.f;
    whole = a.ground[i] + 0.1f + to[0] + to[1] + to[2] + to[3];
}

// What the map makes of values in a cell.
__device__ float made(const Map& a, const float* p, size_t i) {
    int r = i / a.w, c = i % a.w;
    float to[4], whole;
    ends(a, i, r, c, to, whole);
    float v = whole * __ldcg(p + i);
    if (r > 0) v -= to[0] * __ldcg(p + i - a.w);
    if (c > 0) v -= to[1] * __ldcg(p + i - 1);
    if (c + 1 < a.w) v -= to[2] * __ldcg(p + i + 1);
    if (r + 1 < a.h) v -= to[3] * __ldcg(p + i + a.w);
    return v;
}

// Adds what a block's threads have to a sum.
__device__ void added(double* sum, double v) {
    __shared__ double part[32];
    int many = blockDim.x / 32;
    for (int k = 16; k; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < many; ++w) v += part[w];
    atomicAdd(sum, v);
}

// How often blocks have come to where they meet.
__device__ unsigned arrived;

// Waits for all blocks; there are as many as the device has at once.
__device__ void meet(unsigned& round) {
    round += gridDim.x;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned*)&arrived < round) {
        }
        __threadfence();
    }
    __syncthreads();
}

// All steps in one launch: cells stay with their threads, and blocks meet where a sum or a direction has to be whole.
__global__ void solved(Map a, const float* b, float* x, float* r, float* p, float* q, double* sums, int steps) {
    size_t n = (size_t)a.h * a.w, first = blockIdx.x * (size_t)512 + threadIdx.x, stride = gridDim.x * (size_t)512;
    unsigned round = 0;
    double s = 0.;
    for (size_t i = first; i < n; i += stride) {
        x[i] = 0.f;
        r[i] = p[i] = b[i];
        s += (double)b[i] * b[i];
    }
    added(sums, s);
    meet(round);
    for (int step = 0; step < steps; ++step, sums += 2) {
        s = 0.;
        for (size_t i = first; i < n; i += stride) {
            q[i] = made(a, p, i);
            s += (double)p[i] * q[i];
        }
        added(sums + 1, s);
        meet(round);
        float far = __ldcg(sums + 1) == 0. ? 0.f : (float)(__ldcg(sums) / __ldcg(sums + 1));
        s = 0.;
        for (size_t i = first; i < n; i += stride) {
            x[i] += far * p[i];
            r[i] -= far * q[i];
            s += (double)r[i] * r[i];
        }
        added(sums + 2, s);
        meet(round);
        float by = __ldcg(sums) == 0. ? 0.f : (float)(__ldcg(sums + 2) / __ldcg(sums));
        for (size_t i = first; i < n; i += stride) p[i] = r[i] + by * p[i];
        meet(round);
    }
}

// Conjugate gradients: so many steps towards what the map makes b of; sums are those of all steps, two each.
extern "C" void conjugate(const float* ground, const float* east, const float* south, const float* b, float* x, float* r,
                          float* p, float* q, double* sums, int h, int w, int steps) {
    Map a = {ground, east, south, h, w};
    static unsigned* count = nullptr;
    if (!count) cudaGetSymbolAddress((void**)&count, arrived);
    cudaMemsetAsync(count, 0, sizeof(unsigned), 0);
    cudaMemsetAsync(sums, 0, (2 * steps + 1) * sizeof(double), 0);
    solved<<<132, 512>>>(a, b, x, r, p, q, sums, steps);
}
