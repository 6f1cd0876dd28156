#include <climits>

// Of numbers with the distance of their places to the last one behind them the highest is the highest number at
// its first place, the lowest is the lowest number at its last.
__device__ long long highest = LLONG_MIN, lowest = LLONG_MAX;
__device__ unsigned done;

__global__ void yonder(const int* x, int* out, int n) {
    __shared__ long long highs[8], lows[8];
    int t = threadIdx.x;
    long long high = LLONG_MIN, low = LLONG_MAX;
    for (long long i = blockIdx.x * 256ll + t; i < n; i += gridDim.x * 256ll) {
        long long word = (long long)x[i] * (1ll << 32) + (INT_MAX - i);
        high = max(high, word);
        low = min(low, word);
    }
    for (int d = 16; d > 0; d /= 2) {
        high = max(high, __shfl_xor_sync(0xffffffffu, high, d));
        low = min(low, __shfl_xor_sync(0xffffffffu, low, d));
    }
    if (t % 32 == 0) highs[t / 32] = high, lows[t / 32] = low;
    __syncthreads();
    if (t > 0) return;
    for (int k = 1; k < 8; ++k) high = max(high, highs[k]), low = min(low, lows[k]);
    atomicMax(&highest, high);
    atomicMin(&lowest, low);
    __threadfence();
    if (atomicAdd(&done, 1) != gridDim.x - 1) return;
    __threadfence();
    high = atomicExch((unsigned long long*)&highest, (unsigned long long)LLONG_MIN);
    low = atomicExch((unsigned long long*)&lowest, (unsigned long long)LLONG_MAX);
    out[0] = high >> 32, out[1] = INT_MAX - (int)(high & 0xffffffffll);
    out[2] = low >> 32, out[3] = INT_MAX - (int)(low & 0xffffffffll);
    done = 0;
}
