// The four launches are captured once for a set of buffers and sizes and replayed as a graph.
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
    static cudaGraphExec_t replay = nullptr;
    static const int *old_len = nullptr, *old_of = nullptr;
    static long long* old_length = nullptr;
    static int* old_rank = nullptr;
    static long long* old_stats = nullptr;
    static int old_n = 0, old_scaffolds = 0;
    bool same = replay && len == old_len && of == old_of && length == old_length && rank == old_rank &&
                stats == old_stats && n == old_n && scaffolds == old_scaffolds;
    if (!same) {
        if (replay) cudaGraphExecDestroy(replay);
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        int blocks = (scaffolds + 255) / 256;
        clear_lengths<<<blocks, 256, 0, stream>>>(length, stats, scaffolds);
        add_contigs<<<(n + 255) / 256, 256, 0, stream>>>(len, of, length, n, scaffolds, gap);
        close_lengths<<<blocks, 256, 0, stream>>>(length, stats, scaffolds, gap, shortest);
        rank_lengths<<<blocks, 256, 0, stream>>>(length, rank, stats, scaffolds, shortest);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&replay, graph, 0);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        old_len = len;
        old_of = of;
        old_length = length;
        old_rank = rank;
        old_stats = stats;
        old_n = n;
        old_scaffolds = scaffolds;
    }
    cudaGraphLaunch(replay, 0);
}
