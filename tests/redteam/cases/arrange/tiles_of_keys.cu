// The columns of each row in the order of their keys; equal keys stay in the order of the columns.
// Keys pass through shared memory; before the own place an equal one counts, behind it does not.
__global__ void arrange(const int* key, int* order, int rows, int cols) {
    __shared__ int tile[256];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = order + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    for (int first = 0; first < cols; first += 256) {
        int c = first + t, at = 0;
        int own = c < cols ? mine[c] : 0;
        for (int from = 0; from < cols; from += 256) {
            __syncthreads();
            if (from + t < cols) tile[t] = mine[from + t];
            __syncthreads();
            int many = min(256, cols - from);
            int equal = max(0, min(many, c - from));
            for (int k = 0; k < equal; ++k) at += tile[k] <= own;
            for (int k = equal; k < many; ++k) at += tile[k] < own;
        }
        if (c < cols) out[at] = c;
    }
}
