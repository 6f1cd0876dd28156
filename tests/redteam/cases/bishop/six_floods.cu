#include <stdint.h>

// Floods step by step: the sliders spread over empty squares six times, and one more shift
// gives the squares seen.
#define NOT_A 0xfefefefefefefefeull
#define NOT_H 0x7f7f7f7f7f7f7f7full
#define FLOODS 6

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
    const ulonglong2* p = (const ulonglong2*)men + (size_t)i * 6;
    ulonglong2 a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5];
    uint64_t sliders = b.x | c.x;
    uint64_t own = a.x | a.y | b.x | b.y | c.x | c.y;
    uint64_t empty = ~(own | d.x | d.y | e.x | e.y | f.x | f.y);
    uint64_t seen = 0;
    int count = 0;
#pragma unroll
    for (int way = 0; way < 4; way++) {
        uint64_t front = sliders, flood = sliders;
#pragma unroll
        for (int s = 0; s < FLOODS; s++) {
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
