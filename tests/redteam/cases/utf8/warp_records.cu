// How far is each record of a table well-formed UTF-8? Gives the bytes of the longest prefix made of whole well-formed
// code points (table 3-7 of the Unicode standard), the code points in it, and two totals: code points, and records that are
// well-formed to their end.
#include <cuda_runtime.h>

// Bytes of the well-formed code point that begins at s, of which `left` bytes are there; 0 if there is none.
__device__ __forceinline__ int whole(const unsigned char* s, int left) {
    unsigned a = s[0];
    if (a < 0x80) return 1;
    if (a < 0xC2 || a > 0xF4) return 0;
    int need = a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    if (need > left) return 0;
    unsigned low = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    unsigned high = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high) return 0;
    for (int k = 2; k < need; ++k)
        if ((s[k] & 0xC0) != 0x80) return 0;
    return need;
}

// One warp per record. A record breaks at the first byte that begins no whole code point and belongs to none before it.
__global__ void check(const unsigned char* text, const int* length, int* upto, int* marks, int rows, int width) {
    int lane = threadIdx.x & 31;
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    const unsigned char* s = text + (size_t)row * width;
    int end = min(max(length[row], 0), width);
    int good = end, count = 0;
    for (int first = 0; first < end; first += 32) {
        int i = first + lane;
        bool begins = false, bad = false;
        if (i < end) {
            begins = (s[i] & 0xC0) != 0x80;
            if (begins) {
                bad = whole(s + i, end - i) == 0;
            } else {
                int back = 1;
                while (back < 3 && i - back >= 0 && (s[i - back] & 0xC0) == 0x80) ++back;
                int j = i - back;
                bad = j < 0 || whole(s + j, end - j) <= back;
            }
        }
        unsigned starts = __ballot_sync(0xffffffffu, begins);
        unsigned breaks = __ballot_sync(0xffffffffu, bad);
        if (breaks) {
            int at = __ffs(breaks) - 1;
            good = first + at;
            count += __popc(starts & ((1u << at) - 1u));
            break;
        }
        count += __popc(starts);
    }
    if (lane == 0) {
        upto[row] = good;
        marks[row] = count;
    }
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
    check<<<(rows + 3) / 4, 128>>>(text, length, upto, marks, rows, width);
    total<<<64, 256>>>(length, upto, marks, totals, rows, width);
}
