#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

// A jukebox with a repeat lock: requests come in order, `gap` is the time since the request before. A request is
// played unless the same song was played less than `cool` ago; requests that were turned down do not count.
__global__ void enumerate(int* order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) order[i] = i;
}

__global__ void bounds(const int* sorted, int* first, int n, int songs)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s > songs) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < s) low = middle + 1;
        else high = middle;
    }
    first[s] = low;
}

__global__ void link(const int* order, const int* clock, const int* sorted, const int* first, int* next, int* mark,
                     int n, int cool)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int s = sorted[k], end = first[s + 1], due = clock[order[k]] + cool;
    int low = k + 1, high = end;
    while (low < high) {
        int middle = (low + high) / 2;
        if (clock[order[middle]] < due) low = middle + 1;
        else high = middle;
    }
    next[k] = low < end ? low : n;
    mark[k] = k == first[s];
}

__global__ void jump(const int* next, int* farther, const int* mark, int* marked, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int to = next[k];
    if (to < n && mark[k]) marked[to] = 1;
    farther[k] = to < n ? next[to] : n;
}

__global__ void serve(const int* order, const int* sorted, const int* mark, int* played, int* plays, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    played[order[k]] = mark[k];
    if (mark[k]) atomicAdd(&plays[sorted[k]], 1);
}

void jukebox(const int* song, const int* gap, int* played, int* plays, int n, int songs, int cool)
{
    int *clock, *sorted, *order, *given, *first;
    cudaMallocAsync((void**)&clock, n * sizeof(int), 0);
    cudaMallocAsync((void**)&sorted, n * sizeof(int), 0);
    cudaMallocAsync((void**)&order, n * sizeof(int), 0);
    cudaMallocAsync((void**)&given, n * sizeof(int), 0);
    cudaMallocAsync((void**)&first, (songs + 1) * sizeof(int), 0);
    size_t scanning = 0, sorting = 0;
    cub::DeviceScan::InclusiveSum(nullptr, scanning, gap, clock, n);
    cub::DeviceRadixSort::SortPairs(nullptr, sorting, song, sorted, given, order, n);
    size_t bytes = scanning > sorting ? scanning : sorting;
    void* room;
    cudaMallocAsync(&room, bytes, 0);
    cub::DeviceScan::InclusiveSum(room, bytes, gap, clock, n);
    enumerate<<<(n + 255) / 256, 256>>>(given, n);
    cub::DeviceRadixSort::SortPairs(room, bytes, song, sorted, given, order, n);
    bounds<<<(songs + 256) / 256, 256>>>(sorted, first, n, songs);
    int blocks = (n + 255) / 256;
    int *next, *farther, *mark, *marked;
    cudaMallocAsync((void**)&next, n * sizeof(int), 0);
    cudaMallocAsync((void**)&farther, n * sizeof(int), 0);
    cudaMallocAsync((void**)&mark, n * sizeof(int), 0);
    cudaMallocAsync((void**)&marked, n * sizeof(int), 0);
    link<<<blocks, 256>>>(order, clock, sorted, first, next, mark, n, cool);
    for (int round = 0; round < 12; round++) {
        cudaMemcpyAsync(marked, mark, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
        jump<<<blocks, 256>>>(next, farther, mark, marked, n);
        int* other = next;
        next = farther;
        farther = other;
        other = mark;
        mark = marked;
        marked = other;
    }
    cudaMemsetAsync(plays, 0, songs * sizeof(int), 0);
    serve<<<blocks, 256>>>(order, sorted, mark, played, plays, n);
    cudaFreeAsync(marked, 0);
    cudaFreeAsync(mark, 0);
    cudaFreeAsync(farther, 0);
    cudaFreeAsync(next, 0);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(given, 0);
    cudaFreeAsync(order, 0);
    cudaFreeAsync(sorted, 0);
    cudaFreeAsync(clock, 0);
}
