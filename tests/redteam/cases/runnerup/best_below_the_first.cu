#include <climits>
// The second in each row and where it stands: of equal ones the earlier goes before the later.
// The second is the best of those below the first: a block goes over the row twice.
__device__ int best_of_block(const int* mine, int cols, int without, int* shared) {
    int t = threadIdx.x, best = -1;
    for (int c = t; c < cols; c += blockDim.x)
        if ((without < 0 || mine[c] < mine[without]) && (best < 0 || mine[c] > mine[best])) best = c;
    shared[t] = best;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (t < half) {
            int a = shared[t], b = shared[t + half];
            bool other = b >= 0 && (a < 0 || mine[b] > mine[a] || (mine[b] == mine[a] && b < a));
            if (other) shared[t] = b;
        }
        __syncthreads();
    }
    best = shared[0];
    __syncthreads();
    return best;
}

__global__ void runnerup(const int* x, int* value, int* place, int rows, int cols) {
    __shared__ int shared[256];
    const int* mine = x + (size_t)blockIdx.x * cols;
    int first = best_of_block(mine, cols, -1, shared);
    int second = best_of_block(mine, cols, first, shared);
    if (threadIdx.x) return;
    value[blockIdx.x] = second < 0 ? INT_MIN : mine[second];
    place[blockIdx.x] = second;
}
