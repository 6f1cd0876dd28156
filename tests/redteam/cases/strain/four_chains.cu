__device__ float of_spring(const float4* knot, int from, int to, float rest) {
    float4 a = knot[from], b = knot[to];
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    float longer = sqrtf(x * x + y * y + z * z) - rest;
    return 0.5f * fabsf(a.w * b.w) * longer * longer;
}

__device__ float of_block(float v) {
    __shared__ float part[8];
    for (int w = 16; w > 0; w /= 2) v += __shfl_down_sync(~0u, v, w);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? part[threadIdx.x] : 0.f;
    if (threadIdx.x < 32)
        for (int w = 4; w > 0; w /= 2) v += __shfl_down_sync(~0u, v, w);
    return v;
}

// Strain of a net of springs: four sums to a thread, which stays for more.
__global__ void strain(const float4* knot, const int* from, const int* to, const float* rest, float* total, int springs) {
    float e[4] = {};
    size_t step = (size_t)gridDim.x * 256, i = (size_t)blockIdx.x * 256 + threadIdx.x;
    for (; i + 3 * step < springs; i += 4 * step)
        for (int k = 0; k < 4; ++k) {
            size_t s = i + k * step;
            e[k] += of_spring(knot, from[s], to[s], rest[s]);
        }
    for (; i < springs; i += step) e[0] += of_spring(knot, from[i], to[i], rest[i]);
    float all = of_block((e[0] + e[1]) + (e[2] + e[3]));
    if (threadIdx.x == 0) atomicAdd(total, all);
}
