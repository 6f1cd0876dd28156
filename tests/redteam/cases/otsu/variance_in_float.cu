// The first of the thresholds that part a histogram into two groups with the largest variance between them:
// a warp a histogram.
__device__ long long upto(long long v, int lane) {
    for (int s = 1; s < 32; s *= 2) {
        long long left = __shfl_up_sync(0xffffffffu, v, s);
        if (lane >= s) v += left;
    }
    return v;
}

__global__ void otsu(const int* hist, int* out, int rows, int bins) {
    int lane = threadIdx.x % 32, r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const int* h = hist + (size_t)r * bins;
    long long all = 0, total = 0;
    for (int k = lane; k < bins; k += 32) {
        int v = h[k];
        all += v, total += (long long)k * v;
    }
    for (int s = 16; s; s /= 2) {
        all += __shfl_xor_sync(0xffffffffu, all, s);
        total += __shfl_xor_sync(0xffffffffu, total, s);
    }
    long long before = 0, sum_before = 0;
    float best = -1.f;
    int at = 0;
    for (int k0 = 0; k0 < bins; k0 += 32) {
        int k = k0 + lane, v = k < bins ? h[k] : 0;
        long long below = before + upto(v, lane), sum = sum_before + upto((long long)k * v, lane);
        before = __shfl_sync(0xffffffffu, below, 31);
        sum_before = __shfl_sync(0xffffffffu, sum, 31);
        if (k < bins && below != 0 && below != all) {
            float d = (float)(sum * all - total * below);
            float between = d * d / ((float)below * (float)(all - below));
            if (between > best) best = between, at = k;
        }
    }
    for (int s = 16; s; s /= 2) {
        float other = __shfl_down_sync(0xffffffffu, best, s);
        int where = __shfl_down_sync(0xffffffffu, at, s);
        if (other > best || (other == best && where < at)) best = other, at = where;
    }
    if (lane == 0) out[r] = best < 0 ? 0 : at;
}
