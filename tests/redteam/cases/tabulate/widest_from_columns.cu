#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

__global__ void lay_out(const uint8_t* text, int* column, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (i > 0 && text[i - 1] != '\n')) return;
    // a line begins here
    int at = 0;
    for (; i < n; i++) {
        int b = text[i];
        column[i] = at;
        if (b == '\n') break;
        if (b == '\t')
            at = (at / STOP + 1) * STOP;
        else if (b < 0x80 || b > 0xbf)
            at++;
    }
}

// a newline stands where its line ends; the last line may have none
__global__ void find_widest(const uint8_t* text, const int* column, int* widest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int width = 0;
    if (i < n) {
        if (text[i] == '\n')
            width = column[i];
        else if (i == n - 1)
            width = column[i] + 1;
    }
    width = __reduce_max_sync(0xffffffffu, width);
    if ((threadIdx.x & 31) == 0 && width > 0) atomicMax(widest, width);
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    cudaMemsetAsync(widest, 0, sizeof(int), 0);
    lay_out<<<(n + 255) / 256, 256>>>(text, column, n);
    find_widest<<<(n + 255) / 256, 256>>>(text, column, widest, n);
}
