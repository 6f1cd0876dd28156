// Cyclic cellular automaton on a torus: a cell advances to the next of six states
// when one of its four neighbours is already there.   rust ROWS COLS STEPS
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

constexpr int STATES = 6;

__global__ void seed(int* a, int cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    unsigned h = (unsigned)i * 2654435761u + 12345u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    a[i] = (int)(h % STATES);
}

__global__ void step(const int* a, int* b, int rows, int cols)
{
    __shared__ int t[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    const bool in = x < cols && y < rows;
    if (in) {
        t[j][i] = a[y * cols + x];
        if (threadIdx.x == 0) t[j][0] = a[y * cols + (x ? x - 1 : cols - 1)];
        if (threadIdx.x == 31 || x + 1 == cols) t[j][i + 1] = a[y * cols + (x + 1 < cols ? x + 1 : 0)];
        if (threadIdx.y == 0) t[0][i] = a[(y ? y - 1 : rows - 1) * cols + x];
        if (threadIdx.y == 7 || y + 1 == rows) t[j + 1][i] = a[(y + 1 < rows ? y + 1 : 0) * cols + x];
    }
    __syncthreads();
    if (!in) return;
    const int own = t[j][i], next = own + 1 < STATES ? own + 1 : 0;
    const bool go = t[j][i - 1] == next || t[j][i + 1] == next || t[j - 1][i] == next || t[j + 1][i] == next;
    b[y * cols + x] = go ? next : own;
}

__global__ void census(const int* a, unsigned* count, int cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) atomicAdd(&count[a[i]], 1u);
}

int main(int argc, char** argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 192;
    const int cols = argc > 2 ? atoi(argv[2]) : 320;
    const int steps = argc > 3 ? atoi(argv[3]) : 40;
    if (rows < 1 || cols < 1 || steps < 0) return 2;
    const int cells = rows * cols;
    int *a, *b;
    unsigned* count;
    cudaMalloc(&a, cells * sizeof(int));
    cudaMalloc(&b, cells * sizeof(int));
    cudaMalloc(&count, STATES * sizeof(unsigned));
    cudaMemset(b, 0, cells * sizeof(int));
    cudaMemset(count, 0, STATES * sizeof(unsigned));
    seed<<<(cells + 255) / 256, 256>>>(a, cells);
    const dim3 grid((cols + 31) / 32, (rows + 7) / 8), block(32, 8);
    for (int k = 0; k < steps; k++) {
        step<<<grid, block>>>(a, b, rows, cols);
        std::swap(a, b);
    }
    census<<<(cells + 255) / 256, 256>>>(a, count, cells);
    std::vector<int> state(cells);
    unsigned number[STATES];
    cudaMemcpy(state.data(), a, cells * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(number, count, sizeof(number), cudaMemcpyDeviceToHost);
    unsigned sum = 2166136261u;
    for (int s : state) sum = (sum ^ (unsigned)s) * 16777619u;
    for (unsigned k : number) printf("%u ", k);
    printf("%08x\n", sum);
    cudaFree(a);
    cudaFree(b);
    cudaFree(count);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
