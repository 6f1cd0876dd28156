// Each row sorted: every number goes where the count of those before it says.
__global__ void rowsort(const int* x, int* out, int cols) {
    __shared__ int tile[1024];
    const int* in = x + (size_t)blockIdx.x * cols;
    int* to = out + (size_t)blockIdx.x * cols;
    // Four numbers a thread at a time against tiles that all of the block read.
    for (int first = 0; first < cols; first += 4 * blockDim.x) {
        int v[4], rank[4], at[4];
        for (int k = 0; k < 4; ++k) {
            at[k] = first + k * blockDim.x + threadIdx.x;
            v[k] = at[k] < cols ? in[at[k]] : 0;
            rank[k] = 0;
        }
        for (int begin = 0; begin < cols; begin += 1024) {
            int here = min(1024, cols - begin);
            __syncthreads();
            for (int j = threadIdx.x; j < here; j += blockDim.x) tile[j] = in[begin + j];
            __syncthreads();
            for (int j = 0; j < here; ++j) {
                int w = tile[j];
                for (int k = 0; k < 4; ++k) rank[k] += w < v[k] || (w == v[k] && begin + j < at[k]);
            }
        }
        for (int k = 0; k < 4; ++k)
            if (at[k] < cols) to[rank[k]] = v[k];
    }
}
