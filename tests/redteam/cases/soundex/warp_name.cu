#include <cuda_runtime.h>
#include <cstdint>

// American Soundex of fixed-width names, and how many other names sound alike.
#define CODES 8918   // 26 letters times 7 * 7 * 7 digits

__constant__ unsigned char digit[26] = {
    // a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  p  q  r  s  t  u  v  w  x  y  z
       0, 1, 2, 3, 0, 1, 2, 7, 0, 2, 2, 4, 5, 5, 0, 1, 2, 6, 2, 3, 0, 1, 7, 2, 0, 2};

__global__ void clear(int* counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CODES) counts[i] = 0;
}

__global__ void encode(const uint8_t* text, const int* length, int* code, int* counts, int names, int width)
{
    // a warp for each name, a lane for each letter
    int i = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32);
    int lane = threadIdx.x & 31;
    if (i >= names) return;
    const uint8_t* s = text + (size_t)i * width;
    int len = length[i];
    if (len == 0) {
        if (lane == 0) code[i] = -1;
        return;
    }
    int value = s[0] - 'a';
    int carried = digit[value];
    int found = 0;
    for (int first = 1; first < len && found < 3; first += 32) {
        int k = first + lane;
        int d = k < len ? digit[s[k] - 'a'] : 7;
        unsigned heard = __ballot_sync(0xffffffffu, d != 7);
        unsigned below = heard & ((1u << lane) - 1);
        int from = below ? 31 - __clz(below) : lane;
        int before = __shfl_sync(0xffffffffu, d, from);
        if (!below) before = carried;
        unsigned kept = __ballot_sync(0xffffffffu, d != 7 && d != 0 && d != before);
        while (kept && found < 3) {
            value = value * 7 + __shfl_sync(0xffffffffu, d, __ffs(kept) - 1);
            kept &= kept - 1;
            ++found;
        }
        if (heard) carried = __shfl_sync(0xffffffffu, d, 31 - __clz(heard));
    }
    for (; found < 3; ++found) value *= 7;
    if (lane == 0) {
        code[i] = value;
        atomicAdd(&counts[value], 1);
    }
}

__global__ void lookup(const int* code, const int* counts, int* twins, int names)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= names) return;
    int c = code[i];
    twins[i] = c < 0 ? 0 : counts[c] - 1;
}

void soundex(const uint8_t* text, const int* length, int* code, int* counts, int* twins, int names, int width)
{
    clear<<<(CODES + 255) / 256, 256>>>(counts);
    encode<<<(names + 7) / 8, 256>>>(text, length, code, counts, names, width);
    lookup<<<(names + 255) / 256, 256>>>(code, counts, twins, names);
}
