// Loads on the mooring lines of a ship. In sample s line l pulls with gain[l] * (heading[s] * wave[s][l]).
// Per line: the lowest pull, the first sample that has it, and the number of samples below the line's pretension.
// A sample that is not a number is a gap in the record and is skipped; a line for which no pull is below
// infinity has lowest = infinity and when = -1.
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>

#define ROWS 8

__global__ void mooring_kernel(const float* wave, const float* heading, const float* gain, const float* pretension,
                               float* lowest, int* when, int* slack, int samples, int lines)
{
    __shared__ float s_best[ROWS][33];
    __shared__ int s_at[ROWS][33];
    __shared__ int s_below[ROWS][33];
    int l = blockIdx.x * 32 + threadIdx.x;
    float best = INFINITY;
    float scale = 1.0f;
    int at = -1, below = 0;
    if (l < lines) {
        float g = gain[l], p = pretension[l];
        if (isfinite(g) && g != 0.0f) {
            // A gain keeps the order of the pulls, or turns it round if it is negative: look for the lowest, or the
            // highest, before the gain, and apply it once.
            float turn = g > 0.0f ? 1.0f : -1.0f;
            for (int s = threadIdx.y; s < samples; s += ROWS) {
                float u = heading[s] * wave[(size_t)s * lines + l];
                if (turn * u < best) {
                    best = turn * u;
                    at = s;
                }
                if (g * u < p) ++below;
            }
            scale = fabsf(g);
        } else {
            for (int s = threadIdx.y; s < samples; s += ROWS) {
                float v = g * (heading[s] * wave[(size_t)s * lines + l]);
                if (v < best) {
                    best = v;
                    at = s;
                }
                if (v < p) ++below;
            }
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
        lowest[l] = scale * best;
        when[l] = at;
        slack[l] = below;
    }
}

extern "C" void mooring(const float* wave, const float* heading, const float* gain, const float* pretension,
                        float* lowest, int* when, int* slack, int samples, int lines)
{
    mooring_kernel<<<(lines + 31) / 32, dim3(32, ROWS)>>>(wave, heading, gain, pretension, lowest, when, slack,
                                                          samples, lines);
}
