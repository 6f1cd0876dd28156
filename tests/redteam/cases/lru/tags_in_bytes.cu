// A set-associative cache with replacement of the least recently used line: which accesses of a trace hit, and the
// misses of each set. A line goes to the set of its number modulo the sets.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void replay_sets(const int* trace, uint8_t* hit, int* misses, uint8_t* lines, int n, int sets, int ways)
{
    int set = blockIdx.x * blockDim.x + threadIdx.x;
    if (set >= sets) return;
    uint8_t* recent = lines + (size_t)set * ways;      // the last used comes first
    int held = 0, missed = 0;
    for (int i = 0; i < n; i++) {
        int line = trace[i];
        if (line % sets != set) continue;
        uint8_t tag = line / sets;
        int k = 0;
        while (k < held && recent[k] != tag) k++;
        bool found = k < held;
        if (!found) {
            missed++;
            if (held < ways) held++;
            k = held - 1;
        }
        for (; k > 0; k--) recent[k] = recent[k - 1];
        recent[0] = tag;
        hit[i] = found;
    }
    misses[set] = missed;
}

void lru(const int* trace, uint8_t* hit, int* misses, int n, int sets, int ways)
{
    uint8_t* lines;
    cudaMalloc(&lines, (size_t)sets * ways * sizeof(uint8_t));
    replay_sets<<<(sets + 63) / 64, 64>>>(trace, hit, misses, lines, n, sets, ways);
    cudaFree(lines);
}
