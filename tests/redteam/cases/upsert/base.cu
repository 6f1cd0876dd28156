// Batched upsert: update i writes row value[i] (d columns) to table[slot[i]]. Slots outside 0..m-1 are dropped.
// Where several updates of the batch name the same slot, the last of them (the highest i) stands.
// changed[0] receives the number of table rows that were written.
#include <cuda_runtime.h>

__global__ void clear(int* winner, int m, int* changed)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < m) winner[s] = -1;
    if (s == 0) changed[0] = 0;
}

__global__ void claim(const int* __restrict__ slot, int n, int m, int* winner)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = slot[i];
    if (s >= 0 && s < m) atomicMax(winner + s, i);
}

__global__ void apply(const float* __restrict__ value, const int* __restrict__ winner, float* table, int m, int d, int* changed)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)m * d) return;
    const int s = (int)(at / d), c = (int)(at % d);
    const int w = winner[s];
    if (w < 0) return;
    table[at] = value[(size_t)w * d + c];
    if (c == 0) atomicAdd(changed, 1);
}

extern "C" void upsert(const int* slot, const float* value, float* table, int* changed, int n, int m, int d)
{
    static int* winner = nullptr;
    static int room = 0;
    if (m > room) {
        cudaFree(winner);
        cudaMalloc(&winner, (size_t)m * sizeof(int));
        room = m;
    }
    clear<<<(m + 255) / 256, 256>>>(winner, m, changed);
    claim<<<(n + 255) / 256, 256>>>(slot, n, m, winner);
    apply<<<(unsigned)(((long long)m * d + 255) / 256), 256>>>(value, winner, table, m, d, changed);
}
