// Ranks by a sort of one composite key a scaffold: length in the upper 48 bits, number (falling) in the lower 16.
#include <cuda_runtime.h>
#include <cub/cub.cuh>

__global__ void clear_lengths(long long* length, long long* stats, int scaffolds)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < scaffolds) length[s] = 0;
    if (s < 3) stats[s] = 0;
}

__global__ void add_contigs(const int* len, const int* of, long long* length, int n, int scaffolds, int gap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (len[i] <= 0 || of[i] < 0 || of[i] >= scaffolds) return;       // not placed
    atomicAdd((unsigned long long*)&length[of[i]], (unsigned long long)((long long)len[i] + max(gap, 0)));
}

__global__ void close_lengths(long long* length, long long* stats, int scaffolds, int gap, int shortest)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= scaffolds || length[s] == 0) return;
    length[s] -= max(gap, 0);                                         // one gap less than contigs
    if (length[s] >= shortest) atomicAdd((unsigned long long*)&stats[2], (unsigned long long)length[s]);
}

__global__ void compose(const long long* length, unsigned long long* key, int scaffolds)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < scaffolds) key[s] = (unsigned long long)length[s] << 16 | (unsigned)(0xffff - s & 0xffff);
}

__global__ void split(const unsigned long long* key, long long* sorted, int* id, int scaffolds)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= scaffolds) return;
    sorted[r] = (long long)(key[r] >> 16);
    id[r] = 0xffff - (int)(key[r] & 0xffff);
}

__global__ void place(const long long* sorted, const long long* above, const int* id, int* rank, long long* stats,
                      int scaffolds, int shortest)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= scaffolds) return;
    rank[id[r]] = r;
    long long mine = sorted[r], half = (stats[2] + 1) / 2;
    if (mine > 0 && mine >= shortest && above[r] < half && above[r] + mine >= half) {
        stats[0] = mine;
        stats[1] = r + 1;
    }
}

void scaffold(const int* len, const int* of, long long* length, int* rank, long long* stats,
              int n, int scaffolds, int gap, int shortest)
{
    int blocks = (scaffolds + 255) / 256;
    clear_lengths<<<blocks, 256>>>(length, stats, scaffolds);
    add_contigs<<<(n + 255) / 256, 256>>>(len, of, length, n, scaffolds, gap);
    close_lengths<<<blocks, 256>>>(length, stats, scaffolds, gap, shortest);

    unsigned long long *key, *ordered;
    long long *sorted, *above;
    int* id;
    cudaMalloc(&key, scaffolds * sizeof(long long));
    cudaMalloc(&ordered, scaffolds * sizeof(long long));
    cudaMalloc(&sorted, scaffolds * sizeof(long long));
    cudaMalloc(&above, scaffolds * sizeof(long long));
    cudaMalloc(&id, scaffolds * sizeof(int));
    compose<<<blocks, 256>>>(length, key, scaffolds);
    size_t sort_bytes = 0, scan_bytes = 0;
    cub::DeviceRadixSort::SortKeysDescending(nullptr, sort_bytes, key, ordered, scaffolds);
    cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, sorted, above, scaffolds);
    size_t bytes = sort_bytes > scan_bytes ? sort_bytes : scan_bytes;
    void* temp;
    cudaMalloc(&temp, bytes);
    cub::DeviceRadixSort::SortKeysDescending(temp, bytes, key, ordered, scaffolds);
    split<<<blocks, 256>>>(ordered, sorted, id, scaffolds);
    cub::DeviceScan::ExclusiveSum(temp, bytes, sorted, above, scaffolds);
    place<<<blocks, 256>>>(sorted, above, id, rank, stats, scaffolds, shortest);
    cudaFree(temp);
    cudaFree(id);
    cudaFree(above);
    cudaFree(sorted);
    cudaFree(ordered);
    cudaFree(key);
}
