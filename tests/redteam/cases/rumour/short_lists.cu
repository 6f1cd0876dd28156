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

// from: who spreads it today; to: who does tomorrow; fresh: who has been told today
__global__ void call(int* state, int* had, const int* from, const int* many, int* to, int* more, int* fresh, int* told,
                     int n, int k, int day, int most) {
    int m = *many;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < m; p += gridDim.x * blockDim.x) {
        int i = from[p];
        int knew = 0;
        for (int j = 0; j < k; ++j) {
            int other = callee(i, day, j, n);
            int s = *(volatile int*)&state[other];
            // -1: told today
            if (s > 0) ++knew;
            else if (s == 0 && atomicCAS(&state[other], 0, -1) == 0) { int p = atomicAdd(told, 1); if (p < most) fresh[p] = other; }
        }
        had[i] += knew;
        if (had[i] < ENOUGH) to[atomicAdd(more, 1)] = i;
    }
}

__global__ void morrow(int* state, const int* had, const int* from, int* many, int* to, int* more, const int* fresh,
                       int* told, int* history, int day, int most) {
    // one block: all that was told today spreads tomorrow
    int m = *many, f = min(*told, most), kept = *more;
    __syncthreads();
    for (int p = threadIdx.x; p < m; p += blockDim.x)
        if (had[from[p]] >= ENOUGH) state[from[p]] = 2;
    for (int p = threadIdx.x; p < f; p += blockDim.x) {
        state[fresh[p]] = 1;
        to[kept + p] = fresh[p];
    }
    if (threadIdx.x == 0) {
        history[2 * day] = kept + f;
        history[2 * day + 1] = (day ? history[2 * day - 1] : 0) + m - kept;
        *many = kept + f;
        *told = 0;
        *more = 0;
    }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int k = argc > 2 ? atoi(argv[2]) : 3;
    int days = argc > 3 ? atoi(argv[3]) : 40;
    if (n < 1 || k < 1 || days < 1) return 1;

    // told on one day: at most so many
    const int most = 131072;
    int *state, *had, *from, *to, *fresh, *numbers, *history;
    cudaMalloc(&state, n * sizeof(int));
    cudaMalloc(&had, n * sizeof(int));
    cudaMalloc(&from, n * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMalloc(&fresh, most * sizeof(int));
    cudaMalloc(&numbers, 3 * sizeof(int));
    cudaMalloc(&history, 2 * days * sizeof(int));
    cudaMemset(state, 0, n * sizeof(int));
    cudaMemset(had, 0, n * sizeof(int));
    cudaMemset(from, 0, sizeof(int));
    int first[3] = {1, 0, 0};
    cudaMemcpy(state, first, sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(numbers, first, sizeof(first), cudaMemcpyHostToDevice);
    for (int day = 0; day < days; ++day) {
        call<<<264, 256>>>(state, had, from, numbers, to, numbers + 1, fresh, numbers + 2, n, k, day, most);
        morrow<<<1, 1024>>>(state, had, from, numbers, to, numbers + 1, fresh, numbers + 2, history, day, most);
        int* t = from;
        from = to;
        to = t;
    }

    std::vector<int> counts(2 * days), end(n);
    cudaMemcpy(counts.data(), history, 2 * days * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(end.data(), state, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int day = 0; day < days; ++day) printf("%d: %d %d\n", day, counts[2 * day], counts[2 * day + 1]);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + end[i];
    printf("%u\n", sum);
    return 0;
}
