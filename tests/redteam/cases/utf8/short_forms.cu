// How far is each record of a table well-formed UTF-8? Gives the bytes of the longest prefix made of whole well-formed
// code points (table 3-7 of the Unicode standard), the code points in it, and two totals: code points, and records that are
// well-formed to their end.
#include <cuda_runtime.h>

// Bytes of the well-formed code point that begins at s, of which `left` bytes are there; 0 if there is none.
// The value is put together first and judged then.
__device__ __forceinline__ int whole(const unsigned char* s, int left) {
    unsigned a = s[0];
    if (a < 0x80) return 1;
    int need = __clz(~(a << 24));
    if (need < 2 || need > 4 || need > left) return 0;
    unsigned value = a & (0x7F >> need);
    for (int k = 1; k < need; ++k) {
        unsigned c = s[k] ^ 0x80;
        if (c > 0x3F) return 0;
        value = value << 6 | c;
    }
    if (value >> (4 * need - 1) == 0) return 0;
    if (value - 0xD800 < 0x800 || value > 0x10FFFF) return 0;
    return need;
}

__global__ void check(const unsigned char* text, const int* length, int* upto, int* marks, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned char* s = text + (size_t)row * width;
    int end = min(max(length[row], 0), width);
    int i = 0, count = 0;
    while (i < end) {
        int step = whole(s + i, end - i);
        if (step == 0) break;
        i += step;
        ++count;
    }
    upto[row] = i;
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
