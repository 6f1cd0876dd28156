// Earliest arrivals by a timetable: the connections are scanned once in the order of their departures.
#include <cuda_runtime.h>
#include <climits>

__global__ void metro_departures(const int* gap, const int* from, const int* to, const int* ride, int4* link, int m) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    int each = (m + 255) / 256;
    int first = min(m, t * each), end = min(m, first + each);
    int sum = 0;
    for (int i = first; i < end; i++) sum += gap[i];
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
    for (int i = first; i < end; i++) {
        sum += gap[i];
        link[i] = make_int4(sum, from[i], to[i], ride[i]);
    }
}

__global__ void metro_clear(int* reach, const int* source, const int* begin, int stops, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    for (int s = 0; s < stops; s++) reach[(size_t)s * queries + q] = INT_MAX;
    reach[(size_t)source[q] * queries + q] = begin[q];
}

__global__ void metro_scan(const int4* link, int* reach, const int* target, int* arrive, int* last, int m, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    int goal = target[q], by = -1;
    int there = reach[(size_t)goal * queries + q];
    for (int j = 0; j < m; j++) {
        int4 l = link[j];
        if (l.x >= there) break;
        if (reach[(size_t)l.y * queries + q] > l.x) continue;
        int a = l.x + l.w;
        if (a < reach[(size_t)l.z * queries + q]) {
            reach[(size_t)l.z * queries + q] = a;
            if (l.z == goal) {
                by = j;
                there = a;
            }
        }
    }
    arrive[q] = there == INT_MAX ? -1 : there;
    last[q] = by;
}

// gap: from each connection's departure to the next one's; last: the connection by which the goal is reached.
void metro(const int* gap, const int* from, const int* to, const int* ride, const int* source, const int* target,
           const int* begin, int* arrive, int* last, int m, int stops, int queries) {
    int4* link;
    int* reach;
    cudaMalloc(&link, m * sizeof(int4));
    cudaMalloc(&reach, (size_t)stops * queries * sizeof(int));
    metro_departures<<<1, 256>>>(gap, from, to, ride, link, m);
    metro_clear<<<(queries + 63) / 64, 64>>>(reach, source, begin, stops, queries);
    metro_scan<<<(queries + 63) / 64, 64>>>(link, reach, target, arrive, last, m, queries);
    cudaFree(link);
    cudaFree(reach);
}
