#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cooperative_groups.h>
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

namespace cg = cooperative_groups;

__global__ void all_days(int* a, int* b, int* had, int* history, int n, int k, int days) {
    cg::grid_group grid = cg::this_grid();
    int at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int day = 0; day < days; ++day) {
        int *who = day & 1 ? b : a, *then = day & 1 ? a : b;
        for (int i = at; i < n; i += all) then[i] = who[i];
        grid.sync();
        for (int i = at; i < n; i += all) {
            if (who[i] != 1) continue;
            int knew = 0;
            for (int j = 0; j < k; ++j) {
                int other = callee(i, day, j, n);
                if (who[other] == 0) atomicExch(&then[other], 1);
                else ++knew;
            }
            if ((had[i] += knew) >= ENOUGH) then[i] = 2;
        }
        grid.sync();
        int ones = 0, twos = 0;
        for (int i = at; i < n; i += all) {
            ones += then[i] == 1;
            twos += then[i] == 2;
        }
        ones = __reduce_add_sync(~0u, ones);
        twos = __reduce_add_sync(~0u, twos);
        if (threadIdx.x % 32 == 0) {
            atomicAdd(&history[2 * day], ones);
            atomicAdd(&history[2 * day + 1], twos);
        }
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

    int device, cores, fit;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, all_days, 256, 0);
    int wanted = (n + 255) / 256, room = cores * fit;
    void* arguments[] = {&a, &b, &had, &history, &n, &k, &days};
    cudaLaunchCooperativeKernel((void*)all_days, wanted < room ? wanted : room, 256, arguments, 0, 0);
    if (days & 1) a = b;

    std::vector<int> counts(2 * days), end(n);
    cudaMemcpy(counts.data(), history, 2 * days * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(end.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int day = 0; day < days; ++day) printf("%d: %d %d\n", day, counts[2 * day], counts[2 * day + 1]);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + end[i];
    printf("%u\n", sum);
    return 0;
}
