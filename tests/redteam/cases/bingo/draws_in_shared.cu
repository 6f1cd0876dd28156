// At which draw a card of five by five first has a line: the earliest of its rows, columns and diagonals of which the
// last number is drawn. A thread has a card; a block has all draws in shared memory.
__global__ void bingo(const unsigned char* card, const int* drawn, int* when, int n) {
    __shared__ int draw[75];
    if (threadIdx.x < 75) draw[threadIdx.x] = drawn[threadIdx.x];
    __syncthreads();
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int own[25], first = 0x7fffffff;
#pragma unroll
    for (int k = 0; k < 25; ++k) own[k] = draw[card[25 * i + k]];
#pragma unroll
    for (int r = 0; r < 5; ++r) {
        first = min(first, max(max(max(own[5 * r], own[5 * r + 1]), max(own[5 * r + 2], own[5 * r + 3])), own[5 * r + 4]));
        first = min(first, max(max(max(own[r], own[r + 5]), max(own[r + 10], own[r + 15])), own[r + 20]));
    }
    first = min(first, max(max(max(own[0], own[6]), max(own[12], own[18])), own[24]));
    first = min(first, max(max(max(own[4], own[8]), max(own[12], own[16])), own[20]));
    when[i] = first;
}
