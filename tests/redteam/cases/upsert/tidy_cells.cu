// Batched upsert: update i writes row value[i] (d columns) to table[slot[i]]. Slots outside 0..m-1 are dropped.
// Where several updates of the batch name the same slot, the last of them (the highest i) stands.
// changed[0] receives the number of table rows that were written.
#include <cuda_runtime.h>

__global__ void claim(const int* __restrict__ slot, int n, int m, int* winner)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = slot[i];
    if (s >= 0 && s < m) atomicMax(winner + s, i + 1);
}

// The claims are kept as i + 1 with 0 for nobody; whoever has read a claim puts the 0 back, so that
// the table of claims is clean for the next batch without a pass over it.
__global__ void apply(const float* __restrict__ value, int* winner, float* table, int m, int d, int* changed)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)m * d) return;
    const int s = (int)(at / d), c = (int)(at % d);
    const int w = *(volatile int*)(winner + s);
    if (w == 0) return;
    table[at] = value[(size_t)(w - 1) * d + c];
    if (c == d - 1) {                 // the last column leaves the claim clean
        winner[s] = 0;
        atomicAdd(changed, 1);
    }
}

extern "C" void upsert(const int* slot, const float* value, float* table, int* changed, int n, int m, int d)
{
    static int* winner = nullptr;
    static int room = 0;
    if (m > room) {
        cudaFree(winner);
        cudaMalloc(&winner, (size_t)m * sizeof(int));
        cudaMemset(winner, 0, (size_t)m * sizeof(int));
        room = m;
    }
    cudaMemsetAsync(changed, 0, sizeof(int));
    claim<<<(n + 255) / 256, 256>>>(slot, n, m, winner);
    apply<<<(unsigned)(((long long)m * d + 255) / 256), 256>>>(value, winner, table, m, d, changed);
}
