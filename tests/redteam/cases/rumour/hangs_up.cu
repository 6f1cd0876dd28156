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

// who: the state this morning; then: the state tomorrow, equal to it so far
__global__ void call(const int* who, int* then, int* had, int n, int k, int day) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || who[i] != 1) return;
    int knew = had[i];
    for (int j = 0; j < k && knew < ENOUGH; ++j) {
        int other = callee(i, day, j, n);
        if (who[other] == 0) atomicExch(&then[other], 1);
        else ++knew;
    }
    had[i] = knew;
    if (knew >= ENOUGH) then[i] = 2;
}

__global__ void count(const int* who, int* history, int n, int day) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = i < n ? who[i] : 0;
    unsigned ones = __ballot_sync(~0u, s == 1), twos = __ballot_sync(~0u, s == 2);
    if ((threadIdx.x & 31) == 0) {
        if (ones) atomicAdd(&history[2 * day], __popc(ones));
        if (twos) atomicAdd(&history[2 * day + 1], __popc(twos));
    }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int k = argc > 2 ? atoi(argv[2]) : 3;
    int days = argc > 3 ? atoi(argv[3]) : 40;
    if (n < 1 || k < 1 || days < 1) return 1;

    int *a, *b, *had, *history;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMalloc(&had, n * sizeof(int));
    cudaMalloc(&history, 2 * days * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    cudaMemset(had, 0, n * sizeof(int));
    cudaMemset(history, 0, 2 * days * sizeof(int));
    int first = 1;
    cudaMemcpy(a, &first, sizeof(int), cudaMemcpyHostToDevice);
    int blocks = (n + 255) / 256;
    for (int day = 0; day < days; ++day) {
        cudaMemcpy(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice);
        call<<<blocks, 256>>>(a, b, had, n, k, day);
        count<<<blocks, 256>>>(b, history, n, day);
        int* t = a;
        a = b;
        b = t;
    }

    std::vector<int> counts(2 * days), end(n);
    cudaMemcpy(counts.data(), history, 2 * days * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(end.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int day = 0; day < days; ++day) printf("%d: %d %d\n", day, counts[2 * day], counts[2 * day + 1]);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + end[i];
    printf("%u\n", sum);
    return 0;
}
