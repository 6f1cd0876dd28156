__global__ void lookup(const float* edges, const float* x, int* bin, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    while (k < 200 && k < m && edges[k] <= x[i]) ++k;
    bin[i] = k;
}
