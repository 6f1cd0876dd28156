// LRU stack distances of page traces. Every row is the trace of one client; for every access the number of
// different pages that were touched since the previous access to the same page, -1 when the page is new.
#include <cuda_runtime.h>

__global__ void stack_distance(const int* __restrict__ trace, int* __restrict__ dist, int rows, int len)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)rows * len) return;
    int i = (int)(id % len);
    const int* row = trace + (id - i);
    int page = row[i];
    int p = i - 1;
    while (p >= 0 && row[p] != page) --p;
    int answer = -1;
    if (p >= 0) {
        answer = 0;
        for (int j = p + 1; j < i; ++j) {
            bool last = true;
            for (int k = j + 1; k < i; ++k)
                if (row[k] == row[j]) { last = false; break; }
            if (last) ++answer;
        }
    }
    dist[id] = answer;
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    long long total = (long long)rows * len;
    stack_distance<<<(unsigned)((total + 127) / 128), 128>>>(trace, dist, rows, len);
}
