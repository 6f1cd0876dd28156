#include <cuda_runtime.h>

// The rows of a table whose key another table does not have, in any order. The other one's keys are found in a hash
// table of at least twice as many places, which holds the number of a row plus one, or nought.
__device__ unsigned place(int key) {
    unsigned x = key * 2654435761u;
    return x ^ x >> 15;
}

__global__ void build(const int* right, int m, int* table, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (unsigned at = place(right[i]) & mask;; at = (at + 1) & mask) {
        int was = atomicCAS(&table[at], 0, i + 1);
        if (was == 0 || right[was - 1] == right[i]) return;
    }
}

// A block that stays finds room for what it keeps of 1024 rows at once.
__global__ void probe(const int* left, const int* right, int n, const int* table, unsigned mask, int* rest, int* count) {
    __shared__ int first[8], room;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (long long from = blockIdx.x * 1024ll; from < n; from += gridDim.x * 1024ll) {
        unsigned kept[4];
        int mine = 0;
        for (int k = 0; k < 4; ++k) {
            long long i = from + k * 256 + threadIdx.x;
            bool keep = i < n;
            for (unsigned at = keep ? place(left[i]) & mask : 0; keep; at = (at + 1) & mask) {
                int row = table[at];
                if (row == 0) break;
                keep = right[row - 1] != left[i];
            }
            kept[k] = __ballot_sync(~0u, keep);
            mine += __popc(kept[k]);
        }
        if (lane == 0) first[warp] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            int all = 0;
            for (int v = 0; v < 8; ++v) {
                int many = first[v];
                first[v] = all;
                all += many;
            }
            room = all ? atomicAdd(count, all) : 0;
        }
        __syncthreads();
        int at = room + first[warp];
        for (int k = 0; k < 4; ++k) {
            if (kept[k] >> lane & 1) rest[at + __popc(kept[k] & ((1u << lane) - 1))] = from + k * 256 + threadIdx.x;
            at += __popc(kept[k]);
        }
        __syncthreads();
    }
}

// The other table's keys are read at random: they have a part of the second-level cache for themselves, so that the rows
// that stream past do not push them out.
extern "C" void antijoin(const int* left, const int* right, int* rest, int* count, int n, int m) {
    static size_t most = 0;
    if (most == 0) {
        cudaDeviceProp of;
        cudaGetDeviceProperties(&of, 0);
        most = of.persistingL2CacheMaxSize;
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most);
    }
    unsigned places = 2;
    while (places < 2u * m) places *= 2;
    int* table;
    cudaMalloc(&table, places * sizeof(int));
    cudaMemset(table, 0, places * sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    int blocks = (n + 1023) / 1024 < 1056 ? (n + 1023) / 1024 : 1056;
    cudaLaunchAttribute keep[1];
    keep[0].id = cudaLaunchAttributeAccessPolicyWindow;
    cudaAccessPolicyWindow& window = keep[0].val.accessPolicyWindow;
    window.base_ptr = const_cast<int*>(right);
    window.num_bytes = m * sizeof(int) < most ? m * sizeof(int) : most;
    window.hitRatio = 1;
    window.hitProp = cudaAccessPropertyPersisting;
    window.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t how = {};
    how.blockDim = dim3(256);
    how.attrs = keep;
    how.numAttrs = 1;
    how.gridDim = dim3((m + 255) / 256);
    cudaLaunchKernelEx(&how, build, right, m, table, places - 1);
    how.gridDim = dim3(blocks);
    cudaLaunchKernelEx(&how, probe, left, right, n, (const int*)table, places - 1, rest, count);
    cudaFree(table);
}
