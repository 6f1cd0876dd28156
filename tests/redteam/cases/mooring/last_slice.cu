// Loads on the mooring lines of a ship. In sample s line l pulls with gain[l] * (heading[s] * wave[s][l]).
// Per line: the lowest pull, the first sample that has it, and the number of samples below the line's pretension.
// A sample that is not a number is a gap in the record and is skipped; a line for which no pull is below
// infinity has lowest = infinity and when = -1.
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>

#define ROWS 8

struct Part {
    float best;
    int at, below;
};

// Slices of the samples in gridDim.y; of the blocks of the same lines the one that comes last puts the slices together.
// The count of those that came wraps to zero with the last.
__global__ void mooring_kernel(const float* wave, const float* heading, const float* gain, const float* pretension,
                               Part* parts, unsigned* came, float* lowest, int* when, int* slack, int samples,
                               int lines)
{
    __shared__ float s_best[ROWS][33];
    __shared__ int s_at[ROWS][33];
    __shared__ int s_below[ROWS][33];
    __shared__ bool s_last;
    int l = blockIdx.x * 32 + threadIdx.x;
    float best = INFINITY;
    int at = -1, below = 0;
    if (l < lines) {
        float g = gain[l], p = pretension[l];
        for (int s = blockIdx.y * ROWS + threadIdx.y; s < samples; s += ROWS * gridDim.y) {
            float v = g * (heading[s] * wave[(size_t)s * lines + l]);
            if (v < best) {
                best = v;
                at = s;
            }
            if (v < p) ++below;
        }
    }
    s_best[threadIdx.y][threadIdx.x] = best;
    s_at[threadIdx.y][threadIdx.x] = at;
    s_below[threadIdx.y][threadIdx.x] = below;
    __syncthreads();
    if (threadIdx.y == 0 && l < lines) {
        for (int y = 1; y < ROWS; ++y) {
            float b = s_best[y][threadIdx.x];
            int a = s_at[y][threadIdx.x];
            if (a >= 0 && (b < best || (b == best && a < at))) {
                best = b;
                at = a;
            }
            below += s_below[y][threadIdx.x];
        }
        Part mine = {best, at, below};
        parts[(size_t)blockIdx.y * lines + l] = mine;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        s_last = atomicInc(&came[blockIdx.x], gridDim.y - 1) == gridDim.y - 1;
        __threadfence();
    }
    __syncthreads();
    if (s_last && threadIdx.y == 0 && l < lines) {
        best = INFINITY;
        at = -1;
        below = 0;
        for (unsigned y = 0; y < gridDim.y; ++y) {
            const Part* part = &parts[(size_t)y * lines + l];
            float b = __ldcg(&part->best);
            int a = __ldcg(&part->at);
            if (a >= 0 && (at < 0 || b < best || (b == best && a < at))) {
                best = b;
                at = a;
            }
            below += __ldcg(&part->below);
        }
        lowest[l] = best;
        when[l] = at;
        slack[l] = below;
    }
}

extern "C" void mooring(const float* wave, const float* heading, const float* gain, const float* pretension,
                        float* lowest, int* when, int* slack, int samples, int lines)
{
    static Part* parts = nullptr;
    static unsigned* came = nullptr;
    static size_t held_parts = 0, held_came = 0;
    unsigned slices = samples < 256 * 64 ? (samples + 255) / 256 : 64;
    unsigned strips = (lines + 31) / 32;
    if ((size_t)slices * lines > held_parts) {
        if (parts) cudaFree(parts);
        held_parts = (size_t)slices * lines;
        cudaMalloc((void**)&parts, held_parts * sizeof(Part));
    }
    if (strips > held_came) {
        if (came) cudaFree(came);
        held_came = strips;
        cudaMalloc((void**)&came, held_came * sizeof(unsigned));
        cudaMemsetAsync(came, 0, held_came * sizeof(unsigned), 0);
    }
    mooring_kernel<<<dim3(strips, slices), dim3(32, ROWS)>>>(wave, heading, gain, pretension, parts, came, lowest, when,
                                                            slack, samples, lines);
}
