// A set-associative cache with replacement of the least recently used line: which accesses of a trace hit, and the
// misses of each set. A line goes to the set of its number modulo the sets.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void replay_sets(const int* trace, uint8_t* hit, int* misses, int* lines, int n, int sets, int ways)
{
    int set = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (set >= sets) return;
    int* recent = lines + (size_t)set * ways;      // the last used comes first
    int held = 0, missed = 0;
    for (int from = 0; from < n; from += 32) {
        int here = from + lane < n ? trace[from + lane] : 0;
        unsigned mine = __ballot_sync(0xffffffffu, from + lane < n && here % sets == set);
        for (; mine; mine &= mine - 1) {
            int next = __ffs(mine) - 1;
            int line = __shfl_sync(0xffffffffu, here, next);
            if (lane != 0) continue;
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
            hit[from + next] = found;
        }
    }
    if (lane == 0) misses[set] = missed;
}

void lru(const int* trace, uint8_t* hit, int* misses, int n, int sets, int ways)
{
    int* lines;
    cudaMalloc(&lines, (size_t)sets * ways * sizeof(int));
    replay_sets<<<(sets + 1) / 2, 64>>>(trace, hit, misses, lines, n, sets, ways);
    cudaFree(lines);
}
