__global__ void scatter(const int* index, const float* value, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i < n ? index[i] : -1;
    float v = i < n ? value[i] : 0.f;
    unsigned same = __match_any_sync(0xffffffffu, k);
    float sum = 0.f;
    for (int lane = 0; lane < 32; ++lane) {
        float other = __shfl_sync(0xffffffffu, v, lane);
        if (same >> lane & 1) sum += other;
    }
    if (k >= 0 && __ffs(same) - 1 == threadIdx.x % 32) atomicAdd(out + k, sum);
}
