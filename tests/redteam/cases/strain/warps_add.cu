__device__ float of_spring(const float4* knot, int from, int to, float rest) {
    float4 a = knot[from], b = knot[to];
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    float longer = sqrtf(x * x + y * y + z * z) - rest;
    return 0.5f * fabsf(a.w * b.w) * longer * longer;
}

// Strain of a net of springs. Blocks stay; warps add up by shuffles, then in shared memory, and a block adds once.
__global__ void strain(const float4* knot, const int* from, const int* to, const float* rest, float* total, int springs) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.f;
    __syncthreads();
    float e = 0.f;
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < springs; i += (size_t)gridDim.x * 256)
        e += of_spring(knot, from[i], to[i], rest[i]);
    for (int w = 16; w > 0; w /= 2) e += __shfl_xor_sync(~0u, e, w);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, e);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
