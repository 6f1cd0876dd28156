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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= names) return;
    const uint8_t* s = text + (size_t)i * width;
    int len = length[i];
    if (len == 0) {
        code[i] = -1;
        return;
    }
    int value = s[0] - 'a';
    int previous = digit[value];
    int found = 0;
    len = min(len, 16);                       // three digits are among them
    for (int k = 1; k < len && found < 3; ++k) {
        int d = digit[s[k] - 'a'];
        if (d == 7) continue;                 // h and w do not part equal digits
        if (d != 0 && d != previous) {
            value = value * 7 + d;
            ++found;
        }
        previous = d;
    }
    for (; found < 3; ++found) value *= 7;
    code[i] = value;
    atomicAdd(&counts[value], 1);
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
    encode<<<(names + 255) / 256, 256>>>(text, length, code, counts, names, width);
    lookup<<<(names + 255) / 256, 256>>>(code, counts, twins, names);
}
