__global__ void lookup(const float* edges, const float* x, int* bin, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (edges[middle] <= x[i]) low = middle + 1;
        else high = middle;
    }
    bin[i] = low;
}
