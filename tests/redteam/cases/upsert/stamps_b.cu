// Batched upsert: update i writes row value[i] (d columns) to table[slot[i]]. Slots outside 0..m-1 are dropped.
// Where several updates of the batch name the same slot, the last of them (the highest i) stands.
// changed[0] receives the number of table rows that were written.
#include <cuda_runtime.h>

// A claim is stamped with the number of the batch in its upper 12 bits, so claims of earlier batches
// are always smaller than those of this one, and nobody has to clear them until the numbers are used up.
constexpr int SHIFT = 20;
constexpr unsigned LATEST = 4095u;

__global__ void claim(const int* __restrict__ slot, int n, int m, unsigned* winner, unsigned batch)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = slot[i];
    if (s >= 0 && s < m) atomicMax(winner + s, batch << SHIFT | (unsigned)i);
}

__global__ void apply(const float* __restrict__ value, const unsigned* __restrict__ winner, unsigned batch, float* table, int m, int d, int* changed)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)m * d) return;
    const int s = (int)(at / d), c = (int)(at % d);
    const unsigned stamp = winner[s];
    if (stamp >> SHIFT != batch) return;
    const unsigned w = stamp & ((1u << SHIFT) - 1);
    table[at] = value[(size_t)w * d + c];
    if (c == 0) atomicAdd(changed, 1);
}

extern "C" void upsert(const int* slot, const float* value, float* table, int* changed, int n, int m, int d)
{
    static unsigned* winner = nullptr;
    static unsigned batch = 0;
    static int room = 0;
    if (m > room) {
        cudaFree(winner);
        cudaMalloc(&winner, (size_t)m * sizeof(int));
        room = m;
        batch = LATEST;
    }
    if (batch == LATEST) {
        cudaMemsetAsync(winner, 0, (size_t)room * sizeof(int));
        batch = 0;
    }
    ++batch;
    cudaMemsetAsync(changed, 0, sizeof(int));
    claim<<<(n + 255) / 256, 256>>>(slot, n, m, winner, batch);
    apply<<<(unsigned)(((long long)m * d + 255) / 256), 256>>>(value, winner, batch, table, m, d, changed);
}
