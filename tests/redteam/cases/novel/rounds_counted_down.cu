#include <cuda_runtime.h>

// Which visits are the first of their visitor: 1 where a number stands for the first time, 0 where it has been
// before. Who is not one of the m known ones counts for nothing. The table stays from call to call: the round
// stands above the place and falls, so that what an earlier round left is larger than all of this one.
__global__ void entered(const int* id, unsigned long long* first, int n, int m, unsigned round) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && id[i] >= 0 && id[i] < m) atomicMin(first + id[i], (unsigned long long)round << 32 | (unsigned)i);
}

__global__ void told(const int* id, const unsigned long long* first, int* fresh, int n, int m, unsigned round) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        fresh[i] = id[i] >= 0 && id[i] < m && first[id[i]] == ((unsigned long long)round << 32 | (unsigned)i);
}

extern "C" void novel(const int* id, int* fresh, int n, int m) {
    static unsigned long long* first;
    static int room;
    static unsigned round;
    if (m > room) {
        cudaFree(first);
        cudaMalloc(&first, m * sizeof(unsigned long long));
        room = m;
        round = 0;
    }
    if (round == 0) {
        cudaMemsetAsync(first, 0xff, room * sizeof(unsigned long long));
        round = 0xffffffffu;
    }
    --round;
    entered<<<(n + 255) / 256, 256>>>(id, first, n, m, round);
    told<<<(n + 255) / 256, 256>>>(id, first, fresh, n, m, round);
}
