// A filter over a line of numbers, 256 results a block.
// Half of the warps fetch the next 256 numbers while the other half use the last ones.
__device__ void meet(int barrier) { asm volatile("bar.sync %0, 256;" ::"r"(barrier) : "memory"); }
__device__ void tell(int barrier) { asm volatile("bar.arrive %0, 256;" ::"r"(barrier) : "memory"); }

__global__ void fir(const float* x, const float* h, float* y, int n, int taps) {
    __shared__ float tile[2][128 + 32], tap[2][32];
    int t = threadIdx.x % 128, pieces = (taps + 31) / 32;
    bool fetches = threadIdx.x >= 128;
    for (int half = 0; half < 2; ++half) {
        int first = blockIdx.x * 256 + half * 128;
        float s = 0.f;
        for (int p = 0; p < pieces; ++p) {
            int turn = p & 1;
            if (fetches) {
                for (int k = t; k < 160; k += 128) {
                    int at = first + p * 32 + k;
                    tile[turn][k] = at < n + taps ? x[at] : 0.f;
                }
                if (t < 32) tap[turn][t] = p * 32 + t < taps ? h[p * 32 + t] : 0.f;
                __threadfence_block();
                tell(1 + turn);
            } else {
                meet(1 + turn);
                int last = min(32, taps - p * 32);
                for (int j = 0; j < last; ++j) s += tap[turn][j] * tile[turn][t + j];
            }
        }
        if (!fetches && first + t < n) y[first + t] = s;
        __syncthreads();
    }
}
