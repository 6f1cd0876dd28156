// A set-associative cache with replacement of the least recently used line: which accesses of a trace hit, and the
// misses of each set. A line goes to the set of its number modulo the sets.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void replay_sets(const int* trace, uint8_t* hit, int* misses, int* lines, int* stamps, int n, int sets, int ways)
{
    int set = blockIdx.x * blockDim.x + threadIdx.x;
    if (set >= sets) return;
    int* line_of = lines + (size_t)set * ways;
    int* used = stamps + (size_t)set * ways;
    int held = 0, missed = 0;
    int clock = 0;
    for (int i = 0; i < n; i++) {
        int line = trace[i];
        if (line % sets != set) continue;
        int k = 0, oldest = 0;
        for (; k < held && line_of[k] != line; k++)
            if (used[k] < used[oldest]) oldest = k;
        bool found = k < held;
        if (!found) {
            missed++;
            k = held < ways ? held++ : oldest;
            line_of[k] = line;
        }
        used[k] = clock++;
        hit[i] = found;
    }
    misses[set] = missed;
}

void lru(const int* trace, uint8_t* hit, int* misses, int n, int sets, int ways)
{
    int* lines;
    int* stamps;
    cudaMalloc(&lines, (size_t)sets * ways * sizeof(int));
    cudaMalloc(&stamps, (size_t)sets * ways * sizeof(int));
    replay_sets<<<(sets + 63) / 64, 64>>>(trace, hit, misses, lines, stamps, n, sets, ways);
    cudaFree(lines);
    cudaFree(stamps);
}
