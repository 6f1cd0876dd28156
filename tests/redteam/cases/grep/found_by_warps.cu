// Where a word begins in a text, in any order, and how often it does.
__global__ void grep(const unsigned char* text, const unsigned char* word, int* where, int* count, int n, int m) {
    __shared__ int begin, found;
    int lane = threadIdx.x % 32;
    // The last blocks' places first, and a block's finds side by side.
    int i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    bool hit = i + m <= n;
    for (int k = 0; hit && k < m; ++k) hit = text[i + k] == word[k];
    unsigned hits = __ballot_sync(0xffffffffu, hit);
    int at = 0;
    if (lane == 0 && hits) at = atomicAdd(&found, __popc(hits));
    at = __shfl_sync(0xffffffffu, at, 0) + __popc(hits & ((1u << lane) - 1));
    __syncthreads();
    if (threadIdx.x == 0 && found) begin = atomicAdd(count, found);
    __syncthreads();
    if (hit) where[begin + at] = i;
}
