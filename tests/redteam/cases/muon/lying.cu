// One step of an optimiser with orthogonalised momentum: Nesterov momentum, the update brought near the
// closest semi-orthogonal matrix by Newton-Schulz iterations, and the weights moved along it.
#include <cuda_runtime.h>

#define TILE 16
#define BLOCKS 256

__global__ void momentum_kernel(const float* __restrict__ grad, float* __restrict__ mom, float* __restrict__ x,
                                double* __restrict__ part, float beta, int r, int c, bool turned)
{
    __shared__ double line[256];
    size_t count = (size_t)r * c;
    double sum = 0.0;
    for (size_t k = (size_t)blockIdx.x * 256 + threadIdx.x; k < count; k += (size_t)gridDim.x * 256) {
        float g = grad[k];
        float m = beta * mom[k] + g;
        float u = g + beta * m;
        mom[k] = m;
        x[turned ? (k % c) * (size_t)r + k / c : k] = u;
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

// out = keep * old + gain * a b (or a b^T); old may be null
__global__ void product_kernel(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ old,
                               float* __restrict__ out, int rows, int cols, int inner, bool turned, float keep, float gain)
{
    __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < inner; first += TILE) {
        as[ty][tx] = i < rows && first + tx < inner ? a[(size_t)i * inner + first + tx] : 0.0f;
        if (turned) {
            int bj = blockIdx.x * TILE + ty;
            bs[tx][ty] = bj < cols && first + tx < inner ? b[(size_t)bj * inner + first + tx] : 0.0f;
        } else {
            bs[ty][tx] = first + ty < inner && j < cols ? b[(size_t)(first + ty) * cols + j] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (i < rows && j < cols) {
        size_t at = (size_t)i * cols + j;
        out[at] = old ? keep * old[at] + gain * sum : gain * sum;
    }
}

__global__ void apply_kernel(const float* __restrict__ x, float* __restrict__ ortho, float* __restrict__ weight,
                             float rate, int r, int c, bool turned)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < (size_t)r * c) {
        float v = x[turned ? (k % c) * (size_t)r + k / c : k];
        ortho[k] = v;
        weight[k] -= rate * v;
    }
}

static float* room = nullptr;
static size_t room_size = 0;

static dim3 tiles(int rows, int cols)
{
    return dim3((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
}

extern "C" void muon(const float* grad, float* mom, float* weight, float* ortho, int r, int c, float beta, float lr, int iters)
{
    // a tall matrix is orthogonalised lying down: the polynomial acts on the singular values only
    bool turned = r > c;
    int s = turned ? c : r, l = turned ? r : c;
    size_t rc = (size_t)r * c, rr = (size_t)s * s;
    size_t need = 2 * BLOCKS + 2 + 2 * rc + 2 * rr;
    if (need > room_size) {
        if (room) cudaFree(room);
        cudaMalloc(&room, need * sizeof(float));
        room_size = need;
    }
    double* part = (double*)room;
    float* inverse = room + 2 * BLOCKS;
    float* x = inverse + 2;
    float* y = x + rc;
    float* gram = y + rc;
    float* poly = gram + rr;

    momentum_kernel<<<BLOCKS, 256>>>(grad, mom, x, part, beta, r, c, turned);
    norm_kernel<<<1, BLOCKS>>>(part, inverse, BLOCKS);
    scale_kernel<<<(unsigned)((rc + 255) / 256), 256>>>(x, inverse, rc);
    dim3 block(TILE, TILE);
    for (int it = 0; it < iters; ++it) {
        product_kernel<<<tiles(s, s), block>>>(x, x, nullptr, gram, s, s, l, true, 0.0f, 1.0f);
        product_kernel<<<tiles(s, s), block>>>(gram, gram, gram, poly, s, s, s, false, -1.25f, 0.375f);
        product_kernel<<<tiles(s, l), block>>>(poly, x, x, y, s, l, s, false, 1.875f, 1.0f);
        float* swap = x; x = y; y = swap;
    }
    float rate = lr * sqrtf(fmaxf(1.0f, (float)r / (float)c));
    apply_kernel<<<(unsigned)((rc + 255) / 256), 256>>>(x, ortho, weight, rate, r, c, turned);
}
