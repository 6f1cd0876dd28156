// People arrive in order, each with a ticket for one of 32 gates.  At every gate the seats are given out in
// order of arrival, from 0 up; who comes after the room is used up gets -1.  load[g]: how many came to gate g.
// Three steps: count per tile of 1024 arrivals, running counts over the tiles, seats.
#include <cuda_runtime.h>
#define FULL 0xffffffffu
#define TILE 1024
#define GATES 32

__global__ void __launch_bounds__(TILE) count(const int* __restrict__ gate, int* __restrict__ part, int n)
{
    __shared__ int c[GATES];
    if (threadIdx.x < GATES) c[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n) atomicAdd(&c[gate[i]], 1);
    __syncthreads();
    if (threadIdx.x < GATES) part[blockIdx.x * GATES + threadIdx.x] = c[threadIdx.x];
}

// one warp per gate; part becomes the number of arrivals in earlier tiles
__global__ void __launch_bounds__(TILE) running(int* __restrict__ part, int* __restrict__ load, int tiles)
{
    const int g = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int carry = 0;
    for (int b = 0; b < tiles; b += 32) {
        const int t = b + lane;
        const int own = t < tiles ? part[t * GATES + g] : 0;
        int upto = own;
        for (int o = 1; o < 32; o <<= 1) {
            int v = __shfl_up_sync(FULL, upto, o);
            if (lane >= o) upto += v;
        }
        if (t < tiles) part[t * GATES + g] = carry + upto - own;
        carry += __shfl_sync(FULL, upto, 31);
    }
    if (lane == 0) load[g] = carry;
}

__global__ void __launch_bounds__(TILE) seats(const int* __restrict__ gate, const int* __restrict__ part,
                                              int* __restrict__ seat, int n, int room)
{
    __shared__ int c[32][GATES];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    c[warp][lane] = 0;
    __syncwarp();
    const int i = blockIdx.x * TILE + threadIdx.x;
    const int g = i < n ? gate[i] : -1;
    const unsigned same = __match_any_sync(FULL, g);
    const int rank = __popc(same & ((1u << lane) - 1));
    if (g >= 0 && rank == 0) c[warp][g] = __popc(same);
    __syncthreads();
    if (warp == 0) {
        int sum = part[blockIdx.x * GATES + lane];
        for (int w = 0; w < 32; w++) { int v = c[w][lane]; c[w][lane] = sum; sum += v; }
    }
    __syncthreads();
    if (i < n) {
        const int at = c[warp][g] + rank;
        seat[i] = at < room ? at : -1;
    }
}

extern "C" void usher(const int* gate, int* seat, int* load, int n, int room)
{
    const int tiles = (n + TILE - 1) / TILE;
    int* part;
    cudaMallocAsync((void**)&part, sizeof(int) * GATES * (size_t)tiles, 0);
    count<<<tiles, TILE>>>(gate, part, n);
    running<<<1, TILE>>>(part, load, tiles);
    seats<<<tiles, TILE>>>(gate, part, seat, n, room);
    cudaFreeAsync(part, 0);
}
