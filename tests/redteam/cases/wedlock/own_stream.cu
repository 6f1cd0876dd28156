// Stable matching of n and n (Gale and Shapley) in parallel. wedlock N MODE SEED
// MODE 0: random lists; 1: all proposers have one list; 2: lists for which proposals take about n * n turns.
// A thread stands for a proposer; when its proposer is taken in and another one is put out, it goes on for that one
// (McVitie and Wilson). The result and the number of proposals of everyone do not depend on the order.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned long long mix(unsigned long long z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ void shuffled(int* row, int n, unsigned long long stream)
{
    for (int k = 0; k < n; ++k) row[k] = k;
    for (int k = n - 1; k > 0; --k) {
        int j = (int)(mix(stream + k) % (k + 1)), t = row[k];
        row[k] = row[j];
        row[j] = t;
    }
}

// choice[m][k]: the k-th on the list of proposer m; rank[w][m]: how w values m, 0 is the best
__global__ void lists(int* choice, int* rank, int n, int mode, unsigned long long seed)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= n) return;
    int *c = choice + (size_t)m * n, *r = rank + (size_t)m * n;
    if (mode == 0) shuffled(c, n, mix(seed) + (unsigned long long)m * 8192);
    else if (mode == 1) for (int k = 0; k < n; ++k) c[k] = k;
    else {
        int s = m == n - 1 ? 0 : m;
        for (int k = 0; k < n - 1; ++k) c[k] = (s + k) % (n - 1);
        c[n - 1] = n - 1;
    }
    if (mode == 2) for (int k = 0; k < n; ++k) r[(m + 1 + k) % n] = k;
    else shuffled(r, n, mix(seed + 1) + (unsigned long long)m * 8192);
}

__global__ void propose(const int* choice, const int* rank, int* partner, int* next, int n)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= n) return;
    for (;;) {
        int w = choice[(size_t)m * n + atomicAdd(&next[m], 1)];
        const int* r = rank + (size_t)w * n;
        __threadfence();                // whoever puts m out finds next[m] as it is now
        int held = atomicAdd(&partner[w], 0);
        while (held < 0 || r[m] < r[held]) {
            int seen = atomicCAS(&partner[w], held, m);
            if (seen == held) break;
            held = seen;
        }
        if (held < 0) return;
        if (r[m] < r[held]) m = held;
        __threadfence();
    }
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, mode = argc > 2 ? atoi(argv[2]) : -1;
    unsigned long long seed = argc > 3 ? strtoull(argv[3], nullptr, 10) : 0;
    if (argc != 4 || n < 2 || n > 4096 || mode < 0 || mode > 2) {
        fprintf(stderr, "wedlock N MODE SEED, N from 2 to 4096, MODE 0, 1 or 2\n");
        return 2;
    }
    // the matching has a stream of its own that does not wait for the default one except where it has to
    cudaStream_t work;
    cudaEvent_t ready;
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    int *choice, *rank, *partner, *next;
    cudaMalloc(&choice, (size_t)n * n * sizeof(int));
    cudaMalloc(&rank, (size_t)n * n * sizeof(int));
    cudaMalloc(&partner, n * sizeof(int));
    cudaMalloc(&next, n * sizeof(int));
    lists<<<(n + 63) / 64, 64>>>(choice, rank, n, mode, seed);
    cudaMemset(partner, 0xff, n * sizeof(int));
    cudaMemset(next, 0, n * sizeof(int));

    cudaEventRecord(ready, 0);
    cudaStreamWaitEvent(work, ready, 0);
    propose<<<(n + 63) / 64, 64, 0, work>>>(choice, rank, partner, next, n);
    cudaEventRecord(ready, work);

    std::vector<int> hpartner(n), hnext(n);
    cudaMemcpy(hpartner.data(), partner, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(hnext.data(), next, n * sizeof(int), cudaMemcpyDeviceToHost);
    if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, "device error\n"); return 1; }
    long long proposals = 0;
    int luckless = 0;
    unsigned long long sum = 0;
    for (int k = 0; k < n; ++k) {
        proposals += hnext[k];
        if (hnext[k] > hnext[luckless]) luckless = k;
        sum = sum * 1099511628211ull + (unsigned)hpartner[k];
    }
    printf("%d pairs after %lld proposals\n", n, proposals);
    printf("longest search: %d with %d\n", luckless, hnext[luckless]);
    printf("first pairs:");
    for (int w = 0; w < n && w < 8; ++w) printf(" %d-%d", hpartner[w], w);
    printf("\nsum %016llx\n", sum);
    cudaEventDestroy(ready);
    cudaStreamDestroy(work);
    cudaFree(choice);
    cudaFree(rank);
    cudaFree(partner);
    cudaFree(next);
    return 0;
}
