// Mean of the samples of every cell and their number.
#include <cuda_runtime.h>

// fixed point: the order of the additions no longer matters
struct Cell { unsigned long long sum; int count; };
constexpr float ONE = 1073741824.0f;

__global__ void gather(const unsigned* cell, const float* value, Cell* work, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Cell* w = work + cell[i] % (unsigned)m;
    atomicAdd(&w->sum, (unsigned long long)__float2ll_rn(value[i] * ONE));
    atomicAdd(&w->count, 1);
}

// leaves the workspace clear for the next call
__global__ void finish(Cell* work, float* mean, int* count, int m)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= m) return;
    const Cell w = work[c];
    work[c] = Cell{0ull, 0};
    count[c] = w.count;
    mean[c] = w.count ? (float)((double)(long long)w.sum / ONE / w.count) : 0.0f;
}

static Cell* work = nullptr;
static size_t room = 0;

extern "C" void voxelmean(const unsigned* cell, const float* value, float* mean, int* count, int n, int m)
{
    if (n <= 0 || m <= 0) return;
    if ((size_t)m > room) {
        cudaFree(work);
        room = (size_t)m * 2;
        cudaMalloc(&work, room * sizeof(Cell));
        cudaMemset(work, 0, room * sizeof(Cell));
    }
    gather<<<(n + 255) / 256, 256>>>(cell, value, work, n, m);
    finish<<<(m + 255) / 256, 256>>>(work, mean, count, m);
}
