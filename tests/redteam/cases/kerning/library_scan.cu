// Lays out text: where each glyph begins in its line, from the advance widths of the glyphs and how far each pair of
// neighbours is drawn together. Code 0 ends a line and sits where the line's last glyph ends. Also: the widest line.
#include <cuda_runtime.h>
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <stdint.h>

constexpr int GLYPHS = 96;
constexpr int THREADS = 256;

struct Pen {
    int starts;                                 // whether a line begins within
    int sum;                                    // what was advanced since then
};

__host__ __device__ inline Pen join(Pen a, Pen b)
{
    Pen r;
    r.starts = a.starts | b.starts;
    r.sum = b.starts ? b.sum : a.sum + b.sum;
    return r;
}

__device__ inline Pen move_to(const uint8_t* text, const int* advance, const int* tighten, long long i)
{
    Pen p;
    const int before = i > 0 ? text[i - 1] : 0;
    p.starts = before == 0;
    p.sum = 0;
    if (before) {
        const int here = text[i];
        p.sum = advance[before];
        if (here)
            p.sum -= tighten[before * GLYPHS + here];
    }
    return p;
}

struct Join {
    __host__ __device__ Pen operator()(Pen a, Pen b) const { return join(a, b); }
};

struct Move {
    const uint8_t* text;
    const int* advance;
    const int* tighten;
    __device__ Pen operator()(int i) const { return move_to(text, advance, tighten, i); }
};

__global__ void place_glyphs(const uint8_t* text, const int* advance, const Pen* pens, int* x, int* widest, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int at = pens[i].sum;
    const int c = text[i];
    x[i] = at;
    if (c == 0)
        atomicMax(widest, at);
    else if (i == n - 1)
        atomicMax(widest, at + advance[c]);
}

void kerning(const uint8_t* text, const int* advance, const int* tighten, int* x, int* widest, int n)
{
    auto moves = thrust::transform_iterator<Move, thrust::counting_iterator<int>, Pen, Pen>(
        thrust::counting_iterator<int>(0), Move{text, advance, tighten});
    Pen* pens;
    cudaMallocAsync(&pens, (size_t)n * sizeof(Pen), 0);
    void* work = nullptr;
    size_t bytes = 0;
    cub::DeviceScan::InclusiveScan(work, bytes, moves, pens, Join(), n);
    cudaMallocAsync(&work, bytes, 0);
    cub::DeviceScan::InclusiveScan(work, bytes, moves, pens, Join(), n);
    cudaMemsetAsync(widest, 0, sizeof(int), 0);
    place_glyphs<<<(n + THREADS - 1) / THREADS, THREADS>>>(text, advance, pens, x, widest, n);
    cudaFreeAsync(work, 0);
    cudaFreeAsync(pens, 0);
}
