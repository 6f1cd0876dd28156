// A set-associative cache with replacement of the least recently used line: which accesses of a trace hit, and the
// misses of each set. A line goes to the set of its number modulo the sets.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void replay_sets(const int* trace, uint8_t* hit, int* misses, int* lines, int n, int sets, int ways)
{
    int set = blockIdx.x * blockDim.x + threadIdx.x;
    if (set >= sets) return;
    int part = blockIdx.y, parts = gridDim.y;
    int first = (int)((long long)n * part / parts), end = (int)((long long)n * (part + 1) / parts);
    int* recent = lines + ((size_t)part * sets + set) * ways;      // the last used comes first
    int held = 0, missed = 0;
    for (int i = first - 1; i >= 0 && held < ways; i--) {
        int line = trace[i];
        if (line % sets != set) continue;
        int k = 0;
        while (k < held && recent[k] != line) k++;
        if (k == held) recent[held++] = line;
    }
    for (int i = first; i < end; i++) {
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
        for (; k > 0; k--) recent[k] = recent[k - 1];
        recent[0] = line;
        hit[i] = found;
    }
    atomicAdd(&misses[set], missed);
}

void lru(const int* trace, uint8_t* hit, int* misses, int n, int sets, int ways)
{
    int* lines;
    int parts = 8;
    cudaMalloc(&lines, (size_t)parts * sets * ways * sizeof(int));
    cudaMemsetAsync(misses, 0, (size_t)sets * sizeof(int));
    dim3 grid((sets + 63) / 64, parts);
    replay_sets<<<grid, 64>>>(trace, hit, misses, lines, n, sets, ways);
    cudaFree(lines);
}
