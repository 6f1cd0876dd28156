#include <cuda_runtime.h>

// Values beyond the limit on either side are drawn in, by a slow rule; all others stay. They are
// listed first, so that no warp waits for one of them. How many there are only the device knows.
__device__ float drawn(float v, float limit) {
    float z = fabsf(v) - limit, w = log1pf(z);
    for (int k = 0; k < 24; ++k) {
        float e = expf(w);
        w = __fdiv_rn(__fmaf_rn(__fmul_rn(w, w), e, z), __fmaf_rn(w, e, e));
    }
    return copysignf(limit + w, v);
}

__global__ void parted(const float* x, float* y, int* list, int* count, int n, float limit) {
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, from = 0;
    float v = i < n ? x[i] : 0.f;
    bool far = i < n && fabsf(v) > limit;
    unsigned votes = __ballot_sync(0xffffffffu, far);
    if (lane == 0 && votes) from = atomicAdd(count, __popc(votes));
    from = __shfl_sync(0xffffffffu, from, 0);
    if (far)
        list[from + __popc(votes & ((1u << lane) - 1u))] = i;
    else if (i < n)
        y[i] = v;
}

__global__ void drawn_in(const float* x, float* y, const int* list, const int* count, float limit) {
    for (int k = blockIdx.x * 128 + threadIdx.x, many = *count; k < many; k += gridDim.x * 128)
        y[list[k]] = drawn(x[list[k]], limit);
}

extern "C" void outliers(const float* x, float* y, int n, float limit) {
    int* list;
    cudaMallocAsync(&list, ((size_t)n + 1) * sizeof(int), 0);
    cudaMemsetAsync(list + n, 0, sizeof(int));
    parted<<<(n + 255) / 256, 256>>>(x, y, list, list + n, n, limit);
    drawn_in<<<min((n + 127) / 128, 1056), 128>>>(x, y, list, list + n, limit);
    cudaFreeAsync(list, 0);
}
