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
    int at = -1, below = 0;
    if (l < lines) {
        float g = gain[l], p = pretension[l];
        for (int s = threadIdx.y; s < samples; s += ROWS) {
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
        lowest[l] = best;
        when[l] = at;
        slack[l] = below;
    }
}

// Rows of a multiple of four lines keep the alignment of the buffer: four lines to a thread.
__global__ void quad_kernel(const float* wave, const float* heading, const float* gain, const float* pretension,
                            float* lowest, int* when, int* slack, int samples, int lines)
{
    __shared__ float s_best[ROWS][32][4];
    __shared__ int s_at[ROWS][32][4];
    __shared__ int s_below[ROWS][32][4];
    int l = (blockIdx.x * 32 + threadIdx.x) * 4;
    float best[4];
    int at[4], below[4];
    for (int k = 0; k < 4; ++k) {
        best[k] = INFINITY;
        at[k] = -1;
        below[k] = 0;
    }
    if (l < lines) {
        float4 g4 = *(const float4*)(gain + l), p4 = *(const float4*)(pretension + l);
        float g[4] = {g4.x, g4.y, g4.z, g4.w}, p[4] = {p4.x, p4.y, p4.z, p4.w};
        for (int s = threadIdx.y; s < samples; s += ROWS) {
            float h = heading[s];
            float4 w4 = *(const float4*)(wave + (size_t)s * lines + l);
            float w[4] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                float v = g[k] * (h * w[k]);
                at[k] = v < best[k] ? s : at[k];
                best[k] = fminf(best[k], v);
                below[k] += v < p[k];
            }
        }
    }
    for (int k = 0; k < 4; ++k) {
        s_best[threadIdx.y][threadIdx.x][k] = best[k];
        s_at[threadIdx.y][threadIdx.x][k] = at[k];
        s_below[threadIdx.y][threadIdx.x][k] = below[k];
    }
    __syncthreads();
    if (threadIdx.y < 4 && l < lines) {
        int k = threadIdx.y;
        float b = s_best[0][threadIdx.x][k];
        int a = s_at[0][threadIdx.x][k], n = s_below[0][threadIdx.x][k];
        for (int y = 1; y < ROWS; ++y) {
            float b2 = s_best[y][threadIdx.x][k];
            int a2 = s_at[y][threadIdx.x][k];
            if (a2 >= 0 && (b2 < b || (b2 == b && a2 < a))) {
                b = b2;
                a = a2;
            }
            n += s_below[y][threadIdx.x][k];
        }
        lowest[l + k] = b;
        when[l + k] = a;
        slack[l + k] = n;
    }
}

extern "C" void mooring(const float* wave, const float* heading, const float* gain, const float* pretension,
                        float* lowest, int* when, int* slack, int samples, int lines)
{
    if (lines % 4 == 0) {
        quad_kernel<<<(lines / 4 + 31) / 32, dim3(32, ROWS)>>>(wave, heading, gain, pretension, lowest, when, slack,
                                                              samples, lines);
        return;
    }
    mooring_kernel<<<(lines + 31) / 32, dim3(32, ROWS)>>>(wave, heading, gain, pretension, lowest, when, slack,
                                                          samples, lines);
}
