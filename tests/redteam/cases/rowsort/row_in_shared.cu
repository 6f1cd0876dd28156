// Each row sorted: every number goes where the count of those before it says.
__global__ void rowsort(const int* x, int* out, int cols) {
    extern __shared__ int row[];
    const int* in = x + (size_t)blockIdx.x * cols;
    int* to = out + (size_t)blockIdx.x * cols;
    // 96 KiB hold 24576 numbers; longer rows stay where they are.
    if (cols <= 24576) {
        for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = in[i];
        __syncthreads();
        in = row;
    }
    for (int i = threadIdx.x; i < cols; i += 2 * blockDim.x) {
        int other = i + blockDim.x, v = in[i], w = other < cols ? in[other] : 0, before = 0, too = 0;
        for (int j = 0; j < cols; ++j) {
            int u = in[j];
            before += u < v || (u == v && j < i);
            too += u < w || (u == w && j < other);
        }
        to[before] = v;
        if (other < cols) to[too] = w;
    }
}
