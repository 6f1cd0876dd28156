// Loads on the mooring lines of a ship. In sample s line l pulls with gain[l] * (heading[s] * wave[s][l]).
// Per line: the lowest pull, the first sample that has it, and the number of samples below the line's pretension.
// A sample that is not a number is a gap in the record and is skipped; a line for which no pull is below
// infinity has lowest = infinity and when = -1.
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>

#define ROWS 8

typedef unsigned long long u64;

// pulls as unsigned numbers of the same order
static __device__ __forceinline__ unsigned key_of(float v)
{
    unsigned b = __float_as_uint(v);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}

static __device__ __forceinline__ float of_key(unsigned k)
{
    return __uint_as_float(k & 0x80000000u ? k & 0x7fffffffu : ~k);
}

__global__ void clear_kernel(u64* first, int* slack, int lines)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lines) return;
    first[l] = ~0ull;
    slack[l] = 0;
}

// Slices of the samples in gridDim.y. Pull and sample go into one word each, the pull above, so that the least word is
// the first sample of the lowest pull.
__global__ void mooring_kernel(const float* wave, const float* heading, const float* gain, const float* pretension,
                               u64* first, int* slack, int samples, int lines)
{
    __shared__ u64 s_first[ROWS][33];
    __shared__ int s_below[ROWS][33];
    int l = blockIdx.x * 32 + threadIdx.x;
    u64 least = ~0ull;
    int below = 0;
    if (l < lines) {
        float g = gain[l], p = pretension[l];
        for (int s = blockIdx.y * ROWS + threadIdx.y; s < samples; s += ROWS * gridDim.y) {
            float v = g * (heading[s] * wave[(size_t)s * lines + l]);
            if (v < INFINITY) {
                u64 word = ((u64)key_of(v) << 32) | (unsigned)s;
                least = word < least ? word : least;
            }
            if (v < p) ++below;
        }
    }
    s_first[threadIdx.y][threadIdx.x] = least;
    s_below[threadIdx.y][threadIdx.x] = below;
    __syncthreads();
    if (threadIdx.y == 0 && l < lines) {
        for (int y = 1; y < ROWS; ++y) {
            u64 word = s_first[y][threadIdx.x];
            least = word < least ? word : least;
            below += s_below[y][threadIdx.x];
        }
        if (least != ~0ull) atomicMin(&first[l], least);
        if (below) atomicAdd(&slack[l], below);
    }
}

__global__ void unpack_kernel(const u64* first, float* lowest, int* when, int lines)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lines) return;
    u64 word = first[l];
    lowest[l] = word == ~0ull ? INFINITY : of_key((unsigned)(word >> 32));
    when[l] = word == ~0ull ? -1 : (int)(unsigned)word;
}

extern "C" void mooring(const float* wave, const float* heading, const float* gain, const float* pretension,
                        float* lowest, int* when, int* slack, int samples, int lines)
{
    static u64* first = nullptr;
    static int held = 0;
    if (lines > held) {
        if (first) cudaFree(first);
        cudaMalloc((void**)&first, (size_t)lines * sizeof(u64));
        held = lines;
    }
    int slices = samples < 256 * 64 ? (samples + 255) / 256 : 64;
    clear_kernel<<<(lines + 255) / 256, 256>>>(first, slack, lines);
    mooring_kernel<<<dim3((lines + 31) / 32, slices), dim3(32, ROWS)>>>(wave, heading, gain, pretension, first, slack,
                                                                       samples, lines);
    unpack_kernel<<<(lines + 255) / 256, 256>>>(first, lowest, when, lines);
}
