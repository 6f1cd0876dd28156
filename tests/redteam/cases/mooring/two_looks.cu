// Loads on the mooring lines of a ship. In sample s line l pulls with gain[l] * (heading[s] * wave[s][l]).
// Per line: the lowest pull, the first sample that has it, and the number of samples below the line's pretension.
// A sample that is not a number is a gap in the record and is skipped; a line for which no pull is below
// infinity has lowest = infinity and when = -1.
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>

#define ROWS 8

static __device__ __forceinline__ void lower_to(float* cell, float v)
{
    // without a sign floats order as ints do; with one, the larger unsigned is the lower float
    if (__float_as_int(v) >= 0) atomicMin((int*)cell, __float_as_int(v));
    else atomicMax((unsigned*)cell, __float_as_uint(v));
}

__global__ void clear_kernel(float* lowest, int* when, int* slack, int lines)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lines) return;
    lowest[l] = INFINITY;
    when[l] = 0x7fffffff;
    slack[l] = 0;
}

// first look: the lowest pull only
__global__ void lowest_kernel(const float* wave, const float* heading, const float* gain, const float* pretension,
                              float* lowest, int* slack, int samples, int lines)
{
    __shared__ float s_best[ROWS][33];
    __shared__ int s_below[ROWS][33];
    int l = blockIdx.x * 32 + threadIdx.x;
    float best = INFINITY;
    int below = 0;
    if (l < lines) {
        float g = gain[l], p = pretension[l];
        for (int s = blockIdx.y * ROWS + threadIdx.y; s < samples; s += ROWS * gridDim.y) {
            float v = g * (heading[s] * wave[(size_t)s * lines + l]);
            best = fminf(best, v);      // passes over what is not a number
            if (v < p) ++below;
        }
    }
    s_best[threadIdx.y][threadIdx.x] = best;
    s_below[threadIdx.y][threadIdx.x] = below;
    __syncthreads();
    if (threadIdx.y == 0 && l < lines) {
        for (int y = 1; y < ROWS; ++y) {
            best = fminf(best, s_best[y][threadIdx.x]);
            below += s_below[y][threadIdx.x];
        }
        lower_to(&lowest[l], best);
        if (below) atomicAdd(&slack[l], below);
    }
}

// second look: the first sample that pulls so
__global__ void when_kernel(const float* wave, const float* heading, const float* gain, const float* lowest, int* when,
                            int samples, int lines)
{
    int l = blockIdx.x * 32 + threadIdx.x;
    if (l >= lines) return;
    float g = gain[l], low = lowest[l];
    if (!(low < INFINITY)) return;
    for (int s = blockIdx.y * ROWS + threadIdx.y; s < samples; s += ROWS * gridDim.y) {
        float v = g * (heading[s] * wave[(size_t)s * lines + l]);
        if (v == low) {
            atomicMin(&when[l], s);
            break;
        }
    }
}

__global__ void none_kernel(int* when, int lines)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l < lines && when[l] == 0x7fffffff) when[l] = -1;
}

extern "C" void mooring(const float* wave, const float* heading, const float* gain, const float* pretension,
                        float* lowest, int* when, int* slack, int samples, int lines)
{
    int slices = samples < 256 * 64 ? (samples + 255) / 256 : 64;
    dim3 grid((lines + 31) / 32, slices), block(32, ROWS);
    clear_kernel<<<(lines + 255) / 256, 256>>>(lowest, when, slack, lines);
    lowest_kernel<<<grid, block>>>(wave, heading, gain, pretension, lowest, slack, samples, lines);
    when_kernel<<<grid, block>>>(wave, heading, gain, lowest, when, samples, lines);
    none_kernel<<<(lines + 255) / 256, 256>>>(when, lines);
}
