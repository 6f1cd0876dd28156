// One step of an optimiser with orthogonalised momentum: Nesterov momentum, the update brought near the
// closest semi-orthogonal matrix by Newton-Schulz iterations, and the weights moved along it.
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define TILE 16
#define BLOCKS 256

__global__ void momentum_kernel(const float* __restrict__ grad, float* __restrict__ mom, float* __restrict__ x,
                                double* __restrict__ part, float beta, int r, int c, int wide)
{
    __shared__ double line[256];
    size_t count = (size_t)r * c;
    double sum = 0.0;
    for (size_t k = (size_t)blockIdx.x * 256 + threadIdx.x; k < count; k += (size_t)gridDim.x * 256) {
        float g = grad[k];
        float m = beta * mom[k] + g;
        float u = g + beta * m;
        mom[k] = m;
        x[(k / c) * (size_t)wide + k % c] = u;
        sum += (double)u * (double)u;
    }
    line[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) line[threadIdx.x] += line[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) part[blockIdx.x] = line[0];
}

__global__ void norm_kernel(const double* __restrict__ part, float* __restrict__ inverse, int parts)
{
    __shared__ double line[BLOCKS];
    line[threadIdx.x] = threadIdx.x < parts ? part[threadIdx.x] : 0.0;
    __syncthreads();
    for (int half = BLOCKS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) line[threadIdx.x] += line[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *inverse = (float)(1.0 / (sqrt(line[0]) + 1e-7));
}

__global__ void scale_kernel(float* __restrict__ x, const float* __restrict__ inverse, size_t count)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) x[k] *= *inverse;
}

// out = keep * old + gain * a b (or a b^T) on tensor cores, a warp a tile; old may be null; all sizes are whole tiles
template <bool TURNED> struct Side { using layout = wmma::row_major; };
template <> struct Side<true> { using layout = wmma::col_major; };

template <bool TURNED>
__global__ void product_kernel(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ old,
                               float* __restrict__ out, int rows, int cols, int inner, float keep, float gain)
{
    int tile = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int across = cols / TILE;
    if (tile >= rows / TILE * across) return;
    int i = tile / across * TILE, j = tile % across * TILE;
    using Layout = typename Side<TURNED>::layout;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < inner; k += 8) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, Layout> fb;
        wmma::load_matrix_sync(fa, a + (size_t)i * inner + k, inner);
        if (TURNED) wmma::load_matrix_sync(fb, b + (size_t)j * inner + k, inner);
        else wmma::load_matrix_sync(fb, b + (size_t)k * cols + j, cols);
        for (int e = 0; e < fa.num_elements; ++e) fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
        for (int e = 0; e < fb.num_elements; ++e) fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    size_t at = (size_t)i * cols + j;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> before;
    if (old) wmma::load_matrix_sync(before, old + at, cols, wmma::mem_row_major);
    else wmma::fill_fragment(before, 0.0f);
    for (int e = 0; e < sum.num_elements; ++e) sum.x[e] = keep * before.x[e] + gain * sum.x[e];
    wmma::store_matrix_sync(out + at, sum, cols, wmma::mem_row_major);
}

__global__ void apply_kernel(const float* __restrict__ x, float* __restrict__ ortho, float* __restrict__ weight,
                             float rate, int r, int c, int wide)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < (size_t)r * c) {
        float v = x[(k / c) * (size_t)wide + k % c];
        ortho[k] = v;
        weight[k] -= rate * v;
    }
}

static float* room = nullptr;
static size_t room_size = 0;

static unsigned warps(int rows, int cols)
{
    return (unsigned)(((size_t)rows / TILE * (cols / TILE) + 3) / 4);
}

extern "C" void muon(const float* grad, float* mom, float* weight, float* ortho, int r, int c, float beta, float lr, int iters)
{
    // whole tiles, the edges filled with zeros
    int high = (r + TILE - 1) / TILE * TILE, wide = (c + TILE - 1) / TILE * TILE;
    size_t rc = (size_t)high * wide, rr = (size_t)high * high;
    size_t need = 2 * BLOCKS + 8 + 2 * rc + 2 * rr;
    if (need > room_size) {
        if (room) cudaFree(room);
        cudaMalloc(&room, need * sizeof(float));
        room_size = need;
    }
    double* part = (double*)room;
    float* inverse = room + 2 * BLOCKS;
    float* x = inverse + 8;
    float* y = x + rc;
    float* gram = y + rc;
    float* poly = gram + rr;

    cudaMemsetAsync(x, 0, rc * sizeof(float), 0);
    momentum_kernel<<<BLOCKS, 256>>>(grad, mom, x, part, beta, r, c, wide);
    norm_kernel<<<1, BLOCKS>>>(part, inverse, BLOCKS);
    scale_kernel<<<(unsigned)((rc + 255) / 256), 256>>>(x, inverse, rc);
    for (int it = 0; it < iters; ++it) {
        product_kernel<true><<<warps(high, high), 128>>>(x, x, nullptr, gram, high, high, wide, 0.0f, 1.0f);
        product_kernel<false><<<warps(high, high), 128>>>(gram, gram, gram, poly, high, high, high, -1.25f, 0.375f);
        product_kernel<false><<<warps(high, wide), 128>>>(poly, x, x, y, high, wide, high, 1.875f, 1.0f);
        float* swap = x; x = y; y = swap;
    }
    float rate = lr * sqrtf(fmaxf(1.0f, (float)r / (float)c));
    apply_kernel<<<(unsigned)((rc + 255) / 256), 256>>>(x, ortho, weight, rate, r, c, wide);
}
