#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

__device__ __forceinline__ bool put(int b, int* column, int& at) {
    *column = at;
    if (b == '\n') return false;
    at = b == '\t' ? (at | (STOP - 1)) + 1 : at + ((b & 0xc0) != 0x80);
    return true;
}

__global__ void lay_out(const uint8_t* text, int* column, int* widest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (i > 0 && text[i - 1] != '\n')) return;
    int at = 0;
    bool on = true;
    for (; on && i < n && (i & 3); i++) on = put(text[i], column + i, at);
    for (; on && i + 4 <= n; i += 4) {
        unsigned word = *reinterpret_cast<const unsigned*>(text + i);
        for (int k = 0; on && k < 4; k++) on = put(word >> (8 * k) & 0xff, column + i + k, at);
    }
    for (; on && i < n; i++) on = put(text[i], column + i, at);
    atomicMax(widest, at);
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    cudaMemsetAsync(widest, 0, sizeof(int), 0);
    lay_out<<<(n + 255) / 256, 256>>>(text, column, widest, n);
}
