// LRU stack distances of page traces by links: with link[i] the previous access to the same page, the distance is the
// number of accesses in between whose own link points before that access: each page counts where it comes first,
// at or before the page's own. The links are kept in dist itself; a distance only needs links to its left, so
// the row is finished from its end.
#include <cuda_runtime.h>

#define WIDTH 128

__global__ void __launch_bounds__(WIDTH) by_links(const int* __restrict__ trace, int* dist, int len)
{
    const int* row = trace + (long long)blockIdx.x * len;
    int* link = dist + (long long)blockIdx.x * len;
    for (int i = threadIdx.x; i < len; i += WIDTH) {
        int page = row[i];
        int p = i - 1;
        while (p >= 0 && row[p] != page) --p;
        link[i] = p;
    }
    __syncthreads();
    for (int top = (len - 1) / WIDTH * WIDTH; top >= 0; top -= WIDTH) {
        int i = top + threadIdx.x;
        int answer = -1;
        if (i < len) {
            int p = link[i];
            if (p >= 0) {
                answer = 0;
                for (int j = p + 1; j < i; ++j) answer += link[j] < p;
            }
        }
        __syncthreads();
        if (i < len) link[i] = answer;
        __syncthreads();
    }
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    by_links<<<rows, WIDTH>>>(trace, dist, len);
}
