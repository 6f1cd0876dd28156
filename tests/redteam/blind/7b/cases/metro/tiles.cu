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

// The block reads 256 connections at a time, until all its queries are done.
__global__ void metro_scan(const int* leaves, const int* from, const int* to, const int* ride, int* reach,
                           const int* target, int* arrive, int* last, int m, int queries) {
    __shared__ int4 tile[256];
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    bool mine = q < queries;
    int goal = mine ? target[q] : 0, by = -1;
    int there = mine ? reach[(size_t)goal * queries + q] : 0;
    bool busy = mine;
    for (int first = 0; first < m; first += 256) {
        int many = min(256, m - first);
        for (int i = threadIdx.x; i < many; i += blockDim.x) {
            int j = first + i;
            tile[i] = make_int4(leaves[j], from[j], to[j], ride[j]);
        }
        __syncthreads();
        for (int i = 0; busy && i < many; i++) {
            int4 l = tile[i];
            if (l.x > there) {
                busy = false;
                break;
            }
            if (l.y == l.z || reach[(size_t)l.y * queries + q] > l.x) continue;
            int a = l.x + l.w;
            if (a < reach[(size_t)l.z * queries + q]) {
                reach[(size_t)l.z * queries + q] = a;
                if (l.z == goal) {
                    by = first + i;
                    there = a;
                }
            }
        }
        if (!__syncthreads_or(busy)) break;
    }
    if (!mine) return;
    arrive[q] = there == INT_MAX ? -1 : there;
    last[q] = by;
}

// gap: from each connection's departure to the next one's; last: the connection by which the goal is reached.
void metro(const int* gap, const int* from, const int* to, const int* ride, const int* source, const int* target,
           const int* begin, int* arrive, int* last, int m, int stops, int queries) {
    int *leaves, *reach;
    cudaMalloc(&leaves, m * sizeof(int));
    cudaMalloc(&reach, (size_t)stops * queries * sizeof(int));
    metro_departures<<<1, 256>>>(gap, leaves, m);
    metro_clear<<<(queries + 63) / 64, 64>>>(reach, source, begin, stops, queries);
    metro_scan<<<(queries + 63) / 64, 64>>>(leaves, from, to, ride, reach, target, arrive, last, m, queries);
    cudaFree(leaves);
    cudaFree(reach);
}
