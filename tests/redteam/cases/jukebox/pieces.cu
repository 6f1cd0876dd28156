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
    const int piece = 4096, before = 250;
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= songs) return;
    int begin = first[s] + blockIdx.y * piece, end = min(begin + piece, first[s + 1]);
    if (begin >= end) return;
    bool any = false;
    int last = 0, count = 0;
    for (int k = max(first[s], begin - before); k < end; k++) {
        int i = order[k], t = clock[i];
        bool play = !any || t - last >= cool;
        if (play) {
            any = true;
            last = t;
        }
        if (k >= begin) {
            played[i] = play;
            count += play;
        }
    }
    atomicAdd(&plays[s], count);
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
    cudaMemsetAsync(plays, 0, songs * sizeof(int), 0);
    serve<<<dim3((songs + 63) / 64, (n + 4095) / 4096), 64>>>(order, clock, first, played, plays, songs, cool);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(given, 0);
    cudaFreeAsync(order, 0);
    cudaFreeAsync(sorted, 0);
    cudaFreeAsync(clock, 0);
}
