// N50 by bisection over its bits in one block, ranks over shared tiles.
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

__global__ void close_lengths(long long* length, long long* stats, int scaffolds, int gap, int shortest)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= scaffolds || length[s] == 0) return;
    length[s] -= max(gap, 0);                                         // one gap less than contigs
    if (length[s] >= shortest) atomicAdd((unsigned long long*)&stats[2], (unsigned long long)length[s]);
}

__global__ void rank_lengths(const long long* length, int* rank, int scaffolds)
{
    __shared__ long long tile[256];
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    long long mine = s < scaffolds ? length[s] : 0;
    int before = 0;
    for (int first = 0; first < scaffolds; first += 256) {
        int count = min(256, scaffolds - first);
        if ((int)threadIdx.x < count) tile[threadIdx.x] = length[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            bool ahead = tile[k] > mine || (tile[k] == mine && first + k < s);
            before += ahead;
        }
        __syncthreads();
    }
    if (s >= scaffolds) return;
    rank[s] = before;
}

__global__ void bisect(const long long* length, long long* stats, int scaffolds, int shortest)
{
    __shared__ unsigned long long sum_s, count_s;
    long long total = stats[2], half = (total + 1) / 2;
    if (total == 0) return;
    long long floor_ = max((long long)shortest, 1LL);
    long long n50 = 0;                       // largest length with half of the bases in scaffolds at least as long
    for (int bit = 62; bit >= -1; --bit) {   // bit -1: count what is longer than the answer
        long long trial = bit >= 0 ? (n50 | 1LL << bit) : n50 + 1;
        if (threadIdx.x == 0) sum_s = count_s = 0;
        __syncthreads();
        unsigned long long sum = 0, count = 0;
        for (int s = threadIdx.x; s < scaffolds; s += blockDim.x) {
            long long l = length[s];
            if (l >= trial && l >= floor_) { sum += l; ++count; }
        }
        atomicAdd(&sum_s, sum);
        atomicAdd(&count_s, count);
        __syncthreads();
        long long got = (long long)sum_s, longer = (long long)count_s;
        __syncthreads();
        if (bit >= 0) {
            if (got >= half) n50 = trial;
        } else if (threadIdx.x == 0) {
            stats[0] = n50;
            stats[1] = longer + (half - got + n50 - 1) / n50;
        }
    }
}

void scaffold(const int* len, const int* of, long long* length, int* rank, long long* stats,
              int n, int scaffolds, int gap, int shortest)
{
    int blocks = (scaffolds + 255) / 256;
    clear_lengths<<<blocks, 256>>>(length, stats, scaffolds);
    add_contigs<<<(n + 255) / 256, 256>>>(len, of, length, n, scaffolds, gap);
    close_lengths<<<blocks, 256>>>(length, stats, scaffolds, gap, shortest);
    rank_lengths<<<blocks, 256>>>(length, rank, scaffolds);
    bisect<<<1, 1024>>>(length, stats, scaffolds, shortest);
}
