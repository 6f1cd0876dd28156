// How many numbers lie in each of `bins` equal parts of low to high; what lies beyond is in the ends.
__global__ void clipbins(const float* x, int* count, int n, int bins, float low, float high) {
    float scale = bins / (high - low);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = (int)floorf((x[i] - low) * scale);
        b = b < 0 ? 0 : b >= bins ? bins - 1 : b;
        unsigned same = __match_any_sync(__activemask(), b);
        if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(count + b, __popc(same));
    }
}
