// A round tour of random cities, shortened by 2-opt: in each round the exchange of two edges that saves most is
// made, of equal ones the first by the places of its edges.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned long long u64;

__global__ void place(int* x, int* y, int* tour, int n, unsigned seed)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    unsigned h = seed * 2654435761u + (unsigned)c * 2246822519u;
    h ^= h >> 15; h *= 2654435761u; h ^= h >> 13; h *= 3266489917u; h ^= h >> 16;
    x[c] = (int)(h % 1000u);
    h = h * 1664525u + 1013904223u;
    h ^= h >> 15; h *= 2246822519u; h ^= h >> 13;
    y[c] = (int)(h % 1000u);
    tour[c] = c;
}

__device__ int distance(const int* x, const int* y, int a, int b)
{
    int dx = x[a] - x[b];
    int dy = y[a] - y[b];
    return (int)(sqrtf((float)(dx * dx + dy * dy)) + 0.5f);
}

__global__ void begin(u64* best)
{
    *best = ~0ull;
}

__global__ void improve(const int* x, const int* y, const int* tour, u64* best, const int* dry, int n)
{
    if (*dry) return;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    int c = tour[j];
    int d = tour[j + 1 < n ? j + 1 : 0];
    int cd = distance(x, y, c, d);
    for (int i = blockIdx.y; i < j; i += gridDim.y) {
        int a = tour[i];
        int b = tour[i + 1];
        int delta = distance(x, y, a, c) + distance(x, y, b, d) - distance(x, y, a, b) - cd;
        u64 key = (u64)(delta + 8192) << 40 | (u64)i << 20 | (u64)j;
        if (key < *(volatile u64*)best) atomicMin(best, key);
    }
}

__global__ void exchange(int* tour, const u64* best, int* moves, int* dry)
{
    if (*dry) return;
    __syncthreads();
    u64 key = *best;
    int delta = (int)(key >> 40) - 8192;
    if (key == ~0ull || delta >= 0) {
        if (threadIdx.x == 0) *dry = 1;
        return;
    }
    int lo = (int)(key >> 20 & 0xfffff) + 1;
    int hi = (int)(key & 0xfffff);
    for (int k = threadIdx.x; k < (hi - lo + 1) / 2; k += blockDim.x) {
        int t = tour[lo + k];
        tour[lo + k] = tour[hi - k];
        tour[hi - k] = t;
    }
    if (threadIdx.x == 0) ++*moves;
}

__global__ void measure(const int* x, const int* y, const int* tour, int* length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(length, distance(x, y, tour[i], tour[i + 1 < n ? i + 1 : 0]));
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1u;
    int rounds = argc > 3 ? atoi(argv[3]) : 100;
    if (n < 1) n = 1;
    int *x, *y, *tour, *result;
    u64* best;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    cudaMalloc(&tour, n * sizeof(int));
    cudaMalloc(&result, 3 * sizeof(int));
    cudaMalloc(&best, sizeof(u64));
    cudaMemset(result, 0, 3 * sizeof(int));
    int blocks = (n + 127) / 128;
    place<<<blocks, 128>>>(x, y, tour, n, seed);
    for (int r = 0; r < rounds; ++r) {
        begin<<<1, 1>>>(best);
        improve<<<dim3(blocks, 32), 128>>>(x, y, tour, best, result + 2, n);
        exchange<<<1, 256>>>(tour, best, result, result + 2);
    }
    measure<<<blocks, 128>>>(x, y, tour, result + 1, n);
    std::vector<int> order(n);
    int found[2];
    cudaMemcpy(order.data(), tour, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(found, result, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned hash = 2166136261u;
    for (int c : order) hash = (hash ^ (unsigned)c) * 16777619u;
    printf("cities %d moves %d length %d tour %08x\n", n, found[0], found[1], hash);
    for (int k = 0; k < n && k < 12; ++k) printf("%d ", order[k]);
    printf("\n");
    cudaFree(x);
    cudaFree(y);
    cudaFree(tour);
    cudaFree(result);
    cudaFree(best);
    return 0;
}
