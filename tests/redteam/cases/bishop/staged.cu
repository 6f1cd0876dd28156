#include <stdint.h>

// The boards of a block's positions come in as one coalesced stretch of 16-byte words; a
// thread then takes its twelve boards from shared memory.
#define NOT_A 0xfefefefefefefefeull
#define NOT_H 0x7f7f7f7f7f7f7f7full
#define BLOCK 256

static __device__ __forceinline__ uint64_t step(uint64_t g, int d)
{
    switch (d) {
    case 0: return (g << 9) & NOT_A;
    case 1: return (g << 7) & NOT_H;
    case 2: return (g >> 7) & NOT_A;
    default: return (g >> 9) & NOT_H;
    }
}

extern "C" __global__ void bishop(const uint8_t* men, uint64_t* reach, int* moves, int n)
{
    __shared__ uint4 words[BLOCK * 6];
    const uint4* source = (const uint4*)men + (size_t)blockIdx.x * (BLOCK * 6);
    int here = min(BLOCK, n - (int)blockIdx.x * BLOCK);
    for (int w = threadIdx.x; w < BLOCK * 6; w += BLOCK)
        words[w] = source[w];
    __syncthreads();
    if ((int)threadIdx.x >= here)
        return;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    const uint64_t* p = (const uint64_t*)words + threadIdx.x * 12;
    uint64_t sliders = p[2] | p[4];
    uint64_t own = sliders | p[0] | p[1] | p[3] | p[5];
    uint64_t empty = ~(own | p[6] | p[7] | p[8] | p[9] | p[10] | p[11]);
    uint64_t seen = 0;
    int count = 0;
#pragma unroll
    for (int way = 0; way < 4; way++) {
        uint64_t front = sliders, hit = 0;
        while (front) {
            front = step(front, way);
            hit |= front;
            front &= empty;
        }
        seen |= hit;
        count += __popcll(hit & ~own);
    }
    reach[i] = seen;
    moves[i] = count;
}
