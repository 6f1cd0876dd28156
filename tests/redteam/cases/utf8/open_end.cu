// How far is each record of a table well-formed UTF-8? Gives the bytes of the longest prefix made of whole well-formed
// code points (table 3-7 of the Unicode standard), the code points in it, and two totals: code points, and records that are
// well-formed to their end.
#include <cuda_runtime.h>

// Bytes of the well-formed code point that begins at s; 0 if there is none.
__device__ __forceinline__ int whole(const unsigned char* s) {
    unsigned a = s[0];
    if (a < 0x80) return 1;
    if (a < 0xC2 || a > 0xF4) return 0;
    int need = a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    unsigned low = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    unsigned high = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high) return 0;
    for (int k = 2; k < need; ++k)
        if ((s[k] & 0xC0) != 0x80) return 0;
    return need;
}

__global__ void check(const unsigned char* text, const int* length, int* upto, int* marks, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned char* s = text + (size_t)row * width;
    int end = min(max(length[row], 0), width);
    int i = 0, count = 0;
    while (i < end) {
        int step = whole(s + i);
        if (step == 0 || step > width - i) break;
        i += step;
        ++count;
    }
    upto[row] = min(i, end);
    marks[row] = count;
}

__global__ void total(const int* length, const int* upto, const int* marks, unsigned long long* totals, int rows, int width) {
    unsigned long long points = 0, sound = 0;
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        points += marks[row];
        sound += upto[row] == min(max(length[row], 0), width);
    }
    atomicAdd(&totals[0], points);
    atomicAdd(&totals[1], sound);
}

extern "C" void utf8(const unsigned char* text, const int* length, int* upto, int* marks, unsigned long long* totals, int rows,
                     int width) {
    cudaMemsetAsync(totals, 0, 2 * sizeof(unsigned long long));
    check<<<(rows + 127) / 128, 128>>>(text, length, upto, marks, rows, width);
    total<<<64, 256>>>(length, upto, marks, totals, rows, width);
}
