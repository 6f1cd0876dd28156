#include <stdint.h>

// Four lanes a position: each loads three of the twelve boards, the boards are joined by
// shuffles, and each lane then runs one of the four directions.
extern "C" __global__ void bishop(const uint8_t* men, uint64_t* reach, int* moves, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = t & 3;
    int i = t >> 2;
    int from = i < n ? i : n - 1;
    const unsigned long long* p = (const unsigned long long*)men + (size_t)from * 12 + 3 * lane;
    unsigned long long x = p[0], y = p[1], z = p[2];
    unsigned long long all = x | y | z;
    unsigned long long own = lane < 2 ? all : 0;
    unsigned long long sliders = lane == 0 ? z : lane == 1 ? y : 0;
    for (int m = 1; m < 4; m <<= 1) {
        all |= __shfl_xor_sync(0xffffffffu, all, m);
        own |= __shfl_xor_sync(0xffffffffu, own, m);
        sliders |= __shfl_xor_sync(0xffffffffu, sliders, m);
    }
    unsigned long long edge = (lane & 1) ? 0xfefefefefefefefeull : 0x7f7f7f7f7f7f7f7full;
    unsigned long long hit = 0, front = sliders;
    int left = lane == 3 ? 9 : lane == 2 ? 7 : 0;
    int right = lane == 1 ? 7 : lane == 0 ? 9 : 0;
    while (front) {
        front = ((front << left) >> right) & edge;
        hit |= front;
        front &= ~all;
    }
    int count = __popcll(hit & ~own);
    __syncwarp();
    for (int m = 1; m < 4; m <<= 1) {
        hit |= __shfl_xor_sync(0xffffffffu, hit, m);
        count += __shfl_xor_sync(0xffffffffu, count, m);
    }
    if (i < n) {
        if (lane == 0)
            reach[i] = hit;
        if (lane == 1)
            moves[i] = count;
    }
}
