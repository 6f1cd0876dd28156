// Earliest arrivals by a timetable: the connections are scanned once in the order of their departures.
#include <cuda_runtime.h>
#include <climits>

__global__ void metro_departures(const int* gap, int* leaves, int m) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    int each = (m + 255) / 256;
    int from = min(m, t * each), to = min(m, from + each);
    int sum = 0;
    for (int i = from; i < to; i++) sum += gap[i];
    sums[t] = sum;
    __syncthreads();
    if (t == 0) {
        int run = 0;
        for (int k = 0; k < 256; k++) {
            int s = sums[k];
            sums[k] = run;
            run += s;
        }
    }
    __syncthreads();
    sum = sums[t];
    for (int i = from; i < to; i++) {
        sum += gap[i];
        leaves[i] = sum;
    }
}

// A warp for each query: its lanes look at 32 connections at once, and those that can be boarded are taken in turn.
__global__ void metro_scan(const int* leaves, const int* from, const int* to, const int* ride, int* reach,
                           const int* source, const int* target, const int* begin, int* arrive, int* last, int m,
                           int stops, int queries) {
    int q = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (q >= queries) return;
    volatile int* at = reach + (size_t)q * stops;
    for (int s = lane; s < stops; s += 32) at[s] = INT_MAX;
    __syncwarp();
    if (lane == 0) at[source[q]] = begin[q];
    __syncwarp();
    int goal = target[q], by = -1;
    for (int first = 0; first < m; first += 32) {
        int j = first + lane;
        bool here = j < m;
        int t = here ? leaves[j] : 0, f = here ? from[j] : 0, s = here ? to[j] : 0, a = here ? t + ride[j] : 0;
        unsigned open = __ballot_sync(0xffffffffu, here);
        while (true) {
            unsigned ready = __ballot_sync(0xffffffffu, (open >> lane & 1) && at[f] <= t);
            if (!ready) break;
            int next = __ffs(ready) - 1;
            open &= ~(1u << next);   // it has had its turn
            bool better = lane == next && a < at[s];
            if (better) at[s] = a;
            if (__ballot_sync(0xffffffffu, better && s == goal)) by = first + next;
            __syncwarp();
        }
    }
    if (lane == 0) {
        int a = at[goal];
        arrive[q] = a == INT_MAX ? -1 : a;
        last[q] = by;
    }
}

// gap: from each connection's departure to the next one's; last: the connection by which the goal is reached.
void metro(const int* gap, const int* from, const int* to, const int* ride, const int* source, const int* target,
           const int* begin, int* arrive, int* last, int m, int stops, int queries) {
    int *leaves, *reach;
    cudaMalloc(&leaves, m * sizeof(int));
    cudaMalloc(&reach, (size_t)stops * queries * sizeof(int));
    metro_departures<<<1, 256>>>(gap, leaves, m);
    metro_scan<<<(queries + 3) / 4, 128>>>(leaves, from, to, ride, reach, source, target, begin, arrive, last, m, stops,
                                           queries);
    cudaFree(leaves);
    cudaFree(reach);
}
