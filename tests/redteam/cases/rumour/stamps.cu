#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

// A rumour among n people. Who has heard it calls k people each day; who was told by them the day before or earlier
// knows it. After THREE calls to people who know it one has had enough and calls nobody any more.
// state: 0 has not heard it, 1 spreads it, 2 has had enough

constexpr int ENOUGH = 3;

__host__ __device__ inline unsigned mix(unsigned h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

__device__ inline int callee(int i, int day, int j, int n) {
    return mix(mix(mix(i + 0x9e3779b9u) + day) + j) % (unsigned)n;
}

// heard: the first day on which one knows it; had: calls to people who knew; done: the first day on which one has had enough
__global__ void call(int* heard, int* had, int* done, int* history, int n, int k, int day) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || heard[i] > day || done[i] <= day) return;
    int knew = 0, told = 0;
    for (int j = 0; j < k; ++j) {
        int other = callee(i, day, j, n);
        if (*(volatile int*)&heard[other] <= day) ++knew;
        else if (atomicMin(&heard[other], day + 1) > day + 1) ++told;
    }
    had[i] += knew;
    if (had[i] >= ENOUGH) {
        done[i] = day + 1;
        atomicAdd(&history[2 * day + 1], 1);
        --told;
    }
    if (told) atomicAdd(&history[2 * day], told);
}

// from changes to numbers
__global__ void add_up(int* history, int days) {
    int ones = 1, twos = 0;
    for (int day = 0; day < days; ++day) {
        history[2 * day] = ones += history[2 * day];
        history[2 * day + 1] = twos += history[2 * day + 1];
    }
}

__global__ void states(const int* heard, int* done, int n, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) done[i] = heard[i] > days ? 0 : done[i] > days ? 1 : 2;
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int k = argc > 2 ? atoi(argv[2]) : 3;
    int days = argc > 3 ? atoi(argv[3]) : 40;
    if (n < 1 || k < 1 || days < 1) return 1;

    int *heard, *had, *done, *history;
    cudaMalloc(&heard, n * sizeof(int));
    cudaMalloc(&had, n * sizeof(int));
    cudaMalloc(&done, n * sizeof(int));
    cudaMalloc(&history, 2 * days * sizeof(int));
    cudaMemset(heard, 0x7f, n * sizeof(int));
    cudaMemset(heard, 0, sizeof(int));
    cudaMemset(had, 0, n * sizeof(int));
    cudaMemset(done, 0x7f, n * sizeof(int));
    cudaMemset(history, 0, 2 * days * sizeof(int));
    int blocks = (n + 255) / 256;
    for (int day = 0; day < days; ++day) call<<<blocks, 256>>>(heard, had, done, history, n, k, day);
    add_up<<<1, 1>>>(history, days);
    states<<<blocks, 256>>>(heard, done, n, days);

    std::vector<int> counts(2 * days), end(n);
    cudaMemcpy(counts.data(), history, 2 * days * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(end.data(), done, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int day = 0; day < days; ++day) printf("%d: %d %d\n", day, counts[2 * day], counts[2 * day + 1]);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + end[i];
    printf("%u\n", sum);
    return 0;
}
