// Sums of 4096 contigs in shared memory first where the scaffolds fit; ranks over shared tiles.
#include <cuda_runtime.h>

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

#define TABLE 4096

__global__ void add_contigs_shared(const int* len, const int* of, long long* length, int n, int scaffolds, int gap)
{
    __shared__ unsigned long long part[TABLE];
    for (int s = threadIdx.x; s < scaffolds; s += blockDim.x) part[s] = 0;
    __syncthreads();
    int first = blockIdx.x * 4096;
    for (int k = threadIdx.x; k < 4096 && k < n - first; k += blockDim.x) {
        int i = first + k;
        if (len[i] <= 0 || of[i] < 0 || of[i] >= scaffolds) continue;
        atomicAdd(&part[of[i]], (unsigned long long)((long long)len[i] + max(gap, 0)));
    }
    __syncthreads();
    for (int s = threadIdx.x; s < scaffolds; s += blockDim.x)
        if (part[s]) atomicAdd((unsigned long long*)&length[s], (unsigned long long)part[s]);
}

__global__ void close_lengths(long long* length, long long* stats, int scaffolds, int gap, int shortest)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= scaffolds || length[s] == 0) return;
    length[s] -= max(gap, 0);                                         // one gap less than contigs
    if (length[s] >= shortest) atomicAdd((unsigned long long*)&stats[2], (unsigned long long)length[s]);
}

__global__ void rank_lengths(const long long* length, int* rank, long long* stats, int scaffolds, int shortest)
{
    __shared__ long long tile[256];
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    long long mine = s < scaffolds ? length[s] : 0, above = 0;
    int before = 0;
    for (int first = 0; first < scaffolds; first += 256) {
        int count = min(256, scaffolds - first);
        if ((int)threadIdx.x < count) tile[threadIdx.x] = length[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            bool ahead = tile[k] > mine || (tile[k] == mine && first + k < s);
            before += ahead;
            above += ahead ? tile[k] : 0;
        }
        __syncthreads();
    }
    if (s >= scaffolds) return;
    rank[s] = before;
    long long half = (stats[2] + 1) / 2;
    if (mine > 0 && mine >= shortest && above < half && above + mine >= half) {
        stats[0] = mine;
        stats[1] = before + 1;
    }
}

void scaffold(const int* len, const int* of, long long* length, int* rank, long long* stats,
              int n, int scaffolds, int gap, int shortest)
{
    int blocks = (scaffolds + 255) / 256;
    clear_lengths<<<blocks, 256>>>(length, stats, scaffolds);
    if (scaffolds <= TABLE)
        add_contigs_shared<<<(n + 4095) / 4096, 256>>>(len, of, length, n, scaffolds, gap);
    else
        add_contigs<<<(n + 255) / 256, 256>>>(len, of, length, n, scaffolds, gap);
    close_lengths<<<blocks, 256>>>(length, stats, scaffolds, gap, shortest);
    rank_lengths<<<blocks, 256>>>(length, rank, stats, scaffolds, shortest);
}
