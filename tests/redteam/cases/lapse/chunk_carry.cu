// Decayed sums of irregularly timed samples, in chunks of 64 samples: a thread per chunk finds what the chunk adds and what it
// keeps of the past, a thread per row chains the chunks, and a thread per chunk goes over its samples again.
#include <cuda_runtime.h>

#define CHUNK 64

__device__ __forceinline__ float keep_of(float g, float rate) { return isfinite(g) ? expf(-fabsf(g) * rate) : 0.0f; }

__global__ void sum_up(const float* __restrict__ x, const float* __restrict__ gap, float2* __restrict__ part,
                       long long chunks, int per, int len, float rate)
{
    long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    long long at = c / per * len;
    int from = (int)(c % per) * CHUNK, to = min(len, from + CHUNK);
    float state = 0.0f, kept = 1.0f;
    for (int i = from; i < to; ++i) {
        float v = x[at + i], k = keep_of(gap[at + i], rate);
        state = (isfinite(v) ? v : 0.0f) + k * state;
        kept *= k;
    }
    part[c] = make_float2(state, kept);
}

__global__ void chain(float2* part, int rows, int per)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float2* row = part + (long long)r * per;
    float state = 0.0f;
    for (int c = 0; c < per; ++c) {
        float2 p = row[c];
        row[c].x = state;                                  // what comes in
        state = p.x + p.y * state;
    }
}

__global__ void walk(const float* __restrict__ x, const float* __restrict__ gap, const float2* __restrict__ part,
                     float* __restrict__ y, long long chunks, int per, int len, float rate)
{
    long long c = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    long long at = c / per * len;
    int from = (int)(c % per) * CHUNK, to = min(len, from + CHUNK);
    float state = part[c].x;
    for (int i = from; i < to; ++i) {
        float v = x[at + i];
        state = (isfinite(v) ? v : 0.0f) + keep_of(gap[at + i], rate) * state;
        y[at + i] = state;
    }
}

static float2* parts = nullptr;
static long long room = 0;

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    int per = (len + CHUNK - 1) / CHUNK;
    long long chunks = (long long)rows * per;
    if (chunks > room) {
        cudaFree(parts);
        cudaMalloc(&parts, chunks * sizeof(float2));
        room = chunks;
    }
    unsigned grid = (unsigned)((chunks + 127) / 128);
    sum_up<<<grid, 128>>>(x, gap, parts, chunks, per, len, rate);
    chain<<<(rows + 127) / 128, 128>>>(parts, rows, per);
    walk<<<grid, 128>>>(x, gap, parts, y, chunks, per, len, rate);
}
