// Strain of a net of springs: of each the stiffness, times the square of what it is longer than at rest, halved.
__global__ void strain(const float4* knot, const int* from, const int* to, const float* rest, float* total, int springs) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float e = 0.f;
    if (i < springs) {
        float4 a = knot[from[i]], b = knot[to[i]];
        float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
        float longer = sqrtf(x * x + y * y + z * z) - rest[i];
        e = 0.5f * fabsf(a.w * b.w) * longer * longer;
    }
    part[t] = e;
    __syncthreads();
    for (int w = 128; w > 0; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, part[0]);
}
