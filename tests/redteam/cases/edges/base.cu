__global__ void edges(const int* from, const int* to, const int* level, int* head, int* tail,
                      int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || level[from[i]] >= level[to[i]]) return;
    int k = atomicAdd(count, 1);
    head[k] = from[i];
    tail[k] = to[i];
}
