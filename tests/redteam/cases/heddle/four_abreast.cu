// Four shafts to a word: run lengths and best lengths sit in the bytes of 32-bit words and
// the SIMD video instructions count all four at once. Four threads of a block cover the 16
// shafts; the ends then look their shaft up.
extern "C" __global__ void heddle(const int* threading, const int* treadling, const int* tieup,
                                  int* longest, int* begin, int ends, int picks)
{
    __shared__ int length_of[16], begin_of[16];
    __shared__ int lifts[12];
    if (threadIdx.x < 12)
        lifts[threadIdx.x] = tieup[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 4) {
        int shift = 4 * threadIdx.x;
        unsigned run = 0, best = 0, before = 0;
        int at[4] = {0, 0, 0, 0};
        for (int p = 0; p < picks; p++) {
            unsigned nibble = ((unsigned)lifts[treadling[p]] >> shift) & 15u;
            unsigned up = ((nibble * 0x00204081u) & 0x01010101u) * 255u;
            unsigned same = ~(up ^ before);
            run = __vaddus4(run & same, 0x01010101u);
            before = up;
            unsigned more = __vcmpgtu4(run, best);
            if (more) {
                best = __vmaxu4(best, run);
#pragma unroll
                for (int b = 0; b < 4; b++)
                    if ((more >> (8 * b)) & 1)
                        at[b] = p + 1 - (int)((run >> (8 * b)) & 255u);
            }
        }
#pragma unroll
        for (int b = 0; b < 4; b++) {
            length_of[shift + b] = (int)((best >> (8 * b)) & 255u);
            begin_of[shift + b] = at[b];
        }
    }
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < ends) {
        int s = threading[e];
        longest[e] = length_of[s];
        begin[e] = begin_of[s];
    }
}
