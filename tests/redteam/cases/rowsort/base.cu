// Each row sorted: every number goes where the count of those before it says.
__global__ void rowsort(const int* x, int* out, int cols) {
    const int* in = x + (size_t)blockIdx.x * cols;
    int* to = out + (size_t)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        int v = in[i], rank = 0;
        for (int j = 0; j < cols; ++j) rank += in[j] < v || (in[j] == v && j < i);
        to[rank] = v;
    }
}
