__global__ void edges(const int* from, const int* to, const int* level, int* head, int* tail,
                      int* count, int n) {
    __shared__ int heads, tails, first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) heads = tails = 0;
    __syncthreads();
    bool take = i < n && level[from[i]] < level[to[i]];
    int h = take ? atomicAdd(&heads, 1) : 0;
    __syncthreads();
    int t = take ? atomicAdd(&tails, 1) : 0;
    if (threadIdx.x == 0) first = atomicAdd(count, heads);
    __syncthreads();
    if (!take) return;
    head[first + h] = from[i];
    tail[first + t] = to[i];
}
