__global__ void segments(const int* id, const float* value, float* sum, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned here = __activemask();
    const int mine = id[i];
    if (__all_sync(here, mine == __shfl_sync(here, mine, 0))) {
        float v = value[i];
        for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(here, v, o);
        if (threadIdx.x % 32 == 0) {
            sum[mine] += v;
            count[mine] += __popc(here);
        }
    } else {
        atomicAdd(&sum[mine], value[i]);
        atomicAdd(&count[mine], 1);
    }
}
