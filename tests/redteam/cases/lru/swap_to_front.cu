// A set-associative cache with replacement of the least recently used line: which accesses of a trace hit, and the
// misses of each set. A line goes to the set of its number modulo the sets.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void replay_sets(const int* trace, uint8_t* hit, int* misses, int* lines, int n, int sets, int ways)
{
    int set = blockIdx.x * blockDim.x + threadIdx.x;
    if (set >= sets) return;
    int* recent = lines + (size_t)set * ways;      // the last used comes first
    int held = 0, missed = 0;
    for (int i = 0; i < n; i++) {
        int line = trace[i];
        if (line % sets != set) continue;
        int k = 0;
        while (k < held && recent[k] != line) k++;
        bool found = k < held;
        if (!found) {
            missed++;
            if (held < ways) held++;
            k = held - 1;
        }
        if (found) {
            recent[k] = recent[0];
        } else {
            for (; k > 0; k--) recent[k] = recent[k - 1];
        }
        recent[0] = line;
        hit[i] = found;
    }
    misses[set] = missed;
}

void lru(const int* trace, uint8_t* hit, int* misses, int n, int sets, int ways)
{
    int* lines;
    cudaMalloc(&lines, (size_t)sets * ways * sizeof(int));
    replay_sets<<<(sets + 63) / 64, 64>>>(trace, hit, misses, lines, n, sets, ways);
    cudaFree(lines);
}
