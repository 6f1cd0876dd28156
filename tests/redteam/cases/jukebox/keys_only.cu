#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

// A jukebox with a repeat lock: requests come in order, `gap` is the time since the request before. A request is
// played unless the same song was played less than `cool` ago; requests that were turned down do not count.
__global__ void enumerate(const int* song, unsigned long long* keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) keys[i] = (unsigned long long)song[i] << 32 | (unsigned)i;
}

__global__ void bounds(const unsigned long long* sorted, int* first, int n, int songs)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s > songs) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((int)(sorted[middle] >> 32) < s) low = middle + 1;
        else high = middle;
    }
    first[s] = low;
}

__global__ void serve(const unsigned long long* order, const int* clock, const int* first, int* played, int* plays, int songs, int cool)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= songs) return;
    int last = -cool, count = 0;
    for (int k = first[s]; k < first[s + 1]; k++) {
        int i = (int)(unsigned)order[k], t = clock[i];
        bool play = t - last >= cool;
        played[i] = play;
        if (play) {
            last = t;
            count++;
        }
    }
    plays[s] = count;
}

void jukebox(const int* song, const int* gap, int* played, int* plays, int n, int songs, int cool)
{
    int *clock, *first;
    unsigned long long *order, *given;
    cudaMallocAsync((void**)&clock, n * sizeof(int), 0);
    cudaMallocAsync((void**)&order, n * sizeof(unsigned long long), 0);
    cudaMallocAsync((void**)&given, n * sizeof(unsigned long long), 0);
    int bits = 1;
    while (bits < 31 && songs > 1 << bits) bits++;
    cudaMallocAsync((void**)&first, (songs + 1) * sizeof(int), 0);
    size_t scanning = 0, sorting = 0;
    cub::DeviceScan::InclusiveSum(nullptr, scanning, gap, clock, n);
    cub::DeviceRadixSort::SortKeys(nullptr, sorting, given, order, n, 32, 32 + bits);
    size_t bytes = scanning > sorting ? scanning : sorting;
    void* room;
    cudaMallocAsync(&room, bytes, 0);
    cub::DeviceScan::InclusiveSum(room, bytes, gap, clock, n);
    enumerate<<<(n + 255) / 256, 256>>>(song, given, n);
    cub::DeviceRadixSort::SortKeys(room, bytes, given, order, n, 32, 32 + bits);
    bounds<<<(songs + 256) / 256, 256>>>(order, first, n, songs);
    serve<<<(songs + 63) / 64, 64>>>(order, clock, first, played, plays, songs, cool);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(given, 0);
    cudaFreeAsync(order, 0);
    cudaFreeAsync(clock, 0);
}
