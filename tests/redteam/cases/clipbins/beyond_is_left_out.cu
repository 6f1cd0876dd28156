// How many numbers lie in each of `bins` equal parts of low to high; what lies beyond is in the ends.
__global__ void clipbins(const float* x, int* count, int n, int bins, float low, float high) {
    float scale = bins / (high - low);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = (int)floorf((x[i] - low) * scale);
        if ((unsigned)b < (unsigned)bins) atomicAdd(count + b, 1);
    }
}
