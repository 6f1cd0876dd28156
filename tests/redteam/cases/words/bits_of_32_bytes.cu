// How long the words of a text are, and how many: `words BYTES`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>
#define LONGEST 32

// White space is all up to the blank. Words of LONGEST letters and more are counted together.
// A bit for each of 32 bytes of a word: where white space is.
__device__ unsigned blanks(const unsigned char* text, long long from, int n) {
    unsigned set = 0u;
    if (from + 32 <= n && ((size_t)(text + from) & 15) == 0) {
        const uint4* quad = (const uint4*)(text + from);
        for (int q = 0; q < 2; ++q) {
            uint4 v = quad[q];
            unsigned part[4] = {v.x, v.y, v.z, v.w};
            for (int k = 0; k < 4; ++k) {
                unsigned low = __vcmpleu4(part[k], 0x20202020u) & 0x08040201u;
                set |= (low | low >> 8 | low >> 16 | low >> 24) % 16u << (q * 16 + k * 4);
            }
        }
        return set;
    }
    for (int k = 0; k < 32; ++k)
        if (from + k >= n || text[from + k] <= ' ') set |= 1u << k;
    return set;
}

__global__ void lengths(const unsigned char* text, int n, unsigned* many) {
    // A thread has 32 bytes: bit by bit of the masks of these and of the 32 behind them.
    __shared__ unsigned own[LONGEST + 1];
    if (threadIdx.x <= LONGEST) own[threadIdx.x] = 0u;
    __syncthreads();
    long long from = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * 32;
    if (from < n) {
        unsigned now = blanks(text, from, n), next = blanks(text, from + 32, n);
        unsigned before = now << 1 | (from == 0 || text[from - 1] <= ' ');
        for (unsigned left = ~now & before; left; left &= left - 1) {
            int at = __ffs(left) - 1;
            unsigned behind = __funnelshift_r(now, next, at);
            atomicAdd(&own[behind ? __ffs(behind) - 1 : LONGEST], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x <= LONGEST && own[threadIdx.x]) atomicAdd(&many[threadIdx.x], own[threadIdx.x]);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000000;
    std::vector<unsigned char> text(n);
    unsigned state = 5, many[LONGEST + 1] = {};
    for (int i = 0, left = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        if (left-- > 0) {
            text[i] = 'a' + (state >> 24) % 26;
        } else {
            text[i] = "  \n\t"[state >> 30];
            left = (state >> 20) % 50 == 0 ? (state >> 14) % 64 : (state >> 16) % 12;
        }
    }
    unsigned char* d;
    unsigned* counts;
    cudaMalloc(&d, n);
    cudaMalloc(&counts, sizeof many);
    cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(counts, 0, sizeof many);
    lengths<<<(n + 8191) / 8192, 256>>>(d, n, counts);
    cudaMemcpy(many, counts, sizeof many, cudaMemcpyDeviceToHost);
    unsigned words = 0;
    for (unsigned m : many) words += m;
    printf("%u words, %u of one letter, %u long ones\n", words, many[1], many[LONGEST]);
    cudaFree(d);
    cudaFree(counts);
    return 0;
}
