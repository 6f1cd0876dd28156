#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

__device__ int best;
__device__ unsigned arrived;

__global__ void lay_out(const uint8_t* text, int* column, int* widest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    int at = 0;
    bool begins = i < n && (i == 0 || text[i - 1] == '\n');
    for (; begins && i < n; i++) {
        int b = text[i];
        column[i] = at;
        if (b == '\n') break;
        if (b == '\t')
            at = (at / STOP + 1) * STOP;
        else if (b < 0x80 || b > 0xbf)
            at++;
    }
    if (begins) atomicMax(&most, at);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (most > 0) atomicMax(&best, most);
        __threadfence();
        // the last block of all has the result
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            *widest = atomicMax(&best, 0);
        }
    }
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    lay_out<<<(n + 255) / 256, 256>>>(text, column, widest, n);
}
