// People arrive in order, each with a ticket for one of 32 gates.  At every gate the seats are given out in
// order of arrival, from 0 up; who comes after the room is used up gets -1.  load[g]: how many came to gate g.
// One pass: a tile waits for the totals of the tile before it.  Tiles are taken in the order in which blocks start,
// so the one waited for is always running.  Totals are marked with the number of the call, which spares clearing.
#include <cuda_runtime.h>
#define FULL 0xffffffffu
#define TILE 1024
#define GATES 32

struct Work {
    unsigned* done;   // [tiles] number of the call whose totals stand in total[tile]
    int* total;                 // [tiles][GATES] arrivals up to and with this tile
    int* next;                  // next tile to be taken; 0 between calls
};

__global__ void __launch_bounds__(TILE) pass(const int* __restrict__ gate, int* __restrict__ seat,
                                             int* __restrict__ load, int n, int room, int tiles,
                                             Work work, unsigned call)
{
    __shared__ int c[32][GATES], taken;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    c[warp][lane] = 0;
    if (threadIdx.x == 0) taken = atomicAdd(work.next, 1);
    __syncthreads();
    const int tile = taken;
    const int i = tile * TILE + threadIdx.x;
    const int g = i < n ? gate[i] : -1;
    const unsigned same = __match_any_sync(FULL, g);
    const int rank = __popc(same & ((1u << lane) - 1));
    if (g >= 0 && rank == 0) c[warp][g] = __popc(same);
    __syncthreads();
    if (warp == 0) {
        int own = 0;
        for (int w = 0; w < 32; w++) own += c[w][lane];
        int before = 0;
        if (tile > 0) {
            if (lane == 0) {
                while (*(volatile unsigned*)&work.done[tile - 1] != call) { }
                __threadfence();
            }
            __syncwarp();
            before = __ldcg(&work.total[(tile - 1) * GATES + lane]);
        }
        __stcg(&work.total[tile * GATES + lane], before + own);
        __threadfence();
        __syncwarp();
        if (lane == 0) {
            __threadfence();
            *(volatile unsigned*)&work.done[tile] = call;
        }
        if (tile == tiles - 1) {
            load[lane] = before + own;
            if (lane == 0) *work.next = 0;      // all tiles are taken
        }
        int sum = before;
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
    static Work work = {};
    static int held = 0;
    static unsigned call = 0;
    if (!work.next) {
        cudaMalloc((void**)&work.next, sizeof(int));
        cudaMemset(work.next, 0, sizeof(int));
    }
    if (tiles > held) {
        cudaFree(work.done);
        cudaFree(work.total);
        cudaMalloc((void**)&work.done, sizeof(unsigned) * tiles);
        cudaMalloc((void**)&work.total, sizeof(int) * GATES * (size_t)tiles);
        held = tiles;
    }
    pass<<<tiles, TILE>>>(gate, seat, load, n, room, tiles, work, ++call);
}
