// How far apart two series are when time may be stretched: the cheapest way through their differences.
// A warp takes 32 rows at a time, each lane a step behind the one above; what leaves the last of them
// waits in shared memory for the next 32.
__global__ void dtw(const float* a, const float* b, float* out, int n) {
    extern __shared__ float above[];
    int lane = threadIdx.x;
    a += (size_t)blockIdx.x * n, b += (size_t)blockIdx.x * n;
    for (int top = 0; top < n; top += 32) {
        int i = top + lane;
        float mine = i < n ? a[i] : 0.f, cur = 0.f, diagonal = 0.f;
        for (int t = 0; t < n + 31; ++t) {
            int j = t - lane;
            float up = __shfl_up_sync(~0u, cur, 1);
            if (lane == 0 && top > 0 && j < n) up = above[j];
            if (i < n && j >= 0 && j < n) {
                float best = INFINITY;
                if (i && j) best = fminf(best, diagonal);
                if (i) best = fminf(best, up);
                if (j) best = fminf(best, cur);
                cur = fabsf(mine - b[j]) + (i || j ? best : 0.f);
                if (lane == 31) above[j] = cur;
            }
            diagonal = up;
            __syncwarp();
        }
        if (i == n - 1) out[blockIdx.x] = cur;
    }
}
