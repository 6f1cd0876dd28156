#include <cstdint>

// One chair a row, customers in the order in which they come: gap[i] after the one before, work[i] in the chair.
// Per row the sum of all waits, the longest, who waited the longest first, and how many did not wait.
__global__ void barber(const int* gap, const int* work, int64_t* total, int* longest, int* who, int* idle,
                       int rows, int n) {
    __shared__ signed char step[128][36];
    int r = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.x * blockDim.x;
    int64_t sum = 0;
    int wait = 0, most = 0, at = 0, none = 1;
    for (int from = 1; from < n; from += 32) {
        // a step is from -99 to 69
        for (int k = threadIdx.x; k < 128 * 32; k += blockDim.x) {
            int y = k / 32, i = from + k % 32;
            size_t place = (size_t)(first + y) * n + i;
            if (first + y < rows && i < n) step[y][k % 32] = work[place - 1] - gap[place];
        }
        __syncthreads();
        for (int i = from; i < min(n, from + 32); ++i) {
            wait = max(0, wait + step[threadIdx.x][i - from]);
            sum += wait;
            none += wait == 0;
            if (wait > most) {
                most = wait;
                at = i;
            }
        }
        __syncthreads();
    }
    if (r >= rows) return;
    total[r] = sum;
    longest[r] = most;
    who[r] = at;
    idle[r] = none;
}
