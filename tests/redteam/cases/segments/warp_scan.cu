__global__ void segments(const int* id, const float* value, float* sum, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int mine = i < n ? id[i] : -1;
    float v = i < n ? value[i] : 0.0f;
    for (int o = 1; o < 32; o *= 2) {
        const float other = __shfl_down_sync(0xffffffffu, v, o);
        const int theirs = __shfl_down_sync(0xffffffffu, mine, o);
        if (lane + o < 32 && theirs == mine) v += other;
    }
    const int before = __shfl_up_sync(0xffffffffu, mine, 1);
    const bool head = lane == 0 || before != mine;
    const unsigned heads = __ballot_sync(0xffffffffu, head);
    if (head && mine >= 0) {
        const unsigned later = lane == 31 ? 0u : heads >> (lane + 1);
        atomicAdd(&sum[mine], v);
        atomicAdd(&count[mine], later ? __ffs(later) : 32 - lane);
    }
}
