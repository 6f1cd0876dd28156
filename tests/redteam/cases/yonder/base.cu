#include <climits>

// The highest number with its first place, and the lowest one with its last.
__global__ void yonder(const int* x, int* out, int n) {
    __shared__ int high[1024], first[1024], low[1024], last[1024];
    int t = threadIdx.x, a = INT_MIN, f = INT_MAX, b = INT_MAX, l = -1;
    for (long long i = t; i < n; i += 1024) {
        int v = x[i];
        if (v > a || f == INT_MAX) a = v, f = i;
        if (v <= b) b = v, l = i;
    }
    high[t] = a, first[t] = f, low[t] = b, last[t] = l;
    for (int d = 512; d > 0; d /= 2) {
        __syncthreads();
        if (t >= d) continue;
        int o = t + d;
        if (high[o] > high[t] || (high[o] == high[t] && first[o] < first[t])) high[t] = high[o], first[t] = first[o];
        if (low[o] < low[t] || (low[o] == low[t] && last[o] > last[t])) low[t] = low[o], last[t] = last[o];
    }
    if (t == 0) out[0] = high[0], out[1] = first[0], out[2] = low[0], out[3] = last[0];
}
