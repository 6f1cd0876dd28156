__device__ float parts[1024];
__device__ unsigned ready;

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

// Strain of a net of springs. The block that is ready last adds up all blocks' sums, in their order.
__global__ void strain(const float4* knot, const int* from, const int* to, const float* rest, float* total, int springs) {
    __shared__ bool last;
    float e = 0.f;
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < springs; i += (size_t)gridDim.x * 256)
        e += of_spring(knot, from[i], to[i], rest[i]);
    e = of_block(e);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = e;
        __threadfence();
        // The count begins anew with the last block.
        last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    e = 0.f;
    for (int b = threadIdx.x; b < gridDim.x; b += 256) e += __ldcg(parts + b);
    e = of_block(e);
    if (threadIdx.x == 0) *total += e;
}
