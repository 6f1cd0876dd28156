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
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    const int l = x ? x - 1 : cols - 1, r = x + 1 < cols ? x + 1 : 0;
    const int u = y ? y - 1 : rows - 1, d = y + 1 < rows ? y + 1 : 0;
    const int own = a[y * cols + x], next = own + 1 < STATES ? own + 1 : 0;
    const bool go = a[y * cols + l] == next || a[y * cols + r] == next ||
                    a[u * cols + x] == next || a[d * cols + x] == next;
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
    // two steps bring the buffers back to where they were: one graph serves all pairs
    cudaStream_t lane;
    cudaStreamCreate(&lane);
    cudaStreamBeginCapture(lane, cudaStreamCaptureModeGlobal);
    step<<<grid, block, 0, lane>>>(a, b, rows, cols);
    step<<<grid, block, 0, lane>>>(b, a, rows, cols);
    cudaGraph_t graph;
    cudaGraphExec_t pair;
    cudaStreamEndCapture(lane, &graph);
    cudaGraphInstantiate(&pair, graph, 0);
    for (int k = 0; k < (steps + 1) / 2; k++) cudaGraphLaunch(pair, lane);
    cudaStreamSynchronize(lane);
    cudaGraphExecDestroy(pair);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(lane);
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
