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

__global__ void serve(const int* order, const int* clock, const int* first, int* played, int* plays, int songs, int cool)
{
    int s = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (s >= songs) return;
    int end = first[s + 1], due = -1, count = 0;
    for (int chunk = first[s]; chunk < end; chunk += 32) {
        int k = chunk + lane;
        int i = k < end ? order[k] : 0;
        int t = k < end ? clock[i] : 0;
        unsigned left = __ballot_sync(0xffffffffu, k < end);
        bool play = false;
        for (;;) {
            unsigned ready = __ballot_sync(0xffffffffu, t >= due) & left;
            if (ready == 0) break;
            int lead = __ffs(ready) - 1;
            if (lane == lead) play = true;
            due = __shfl_sync(0xffffffffu, t, lead) + cool;
            left &= ~((2u << lead) - 1);
            count++;
        }
        if (k < end) played[i] = play;
    }
    if (lane == 0) plays[s] = count;
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
    serve<<<(songs + 3) / 4, 128>>>(order, clock, first, played, plays, songs, cool);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(given, 0);
    cudaFreeAsync(order, 0);
    cudaFreeAsync(sorted, 0);
    cudaFreeAsync(clock, 0);
}
