__device__ unsigned long long launches;
__global__ void total(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i < n ? x[i] : 0.f;
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, s);
    if (i == 0) ++launches;
}
