__global__ void rowptr(const int* id, int* start, int n, int rows) {
    __shared__ int pivot[256];
    pivot[threadIdx.x] = n > 0 ? id[(size_t)n * threadIdx.x / 256] : 0;
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r > rows || n == 0) {
        if (r <= rows) start[r] = 0;
        return;
    }
    int below = 0;
#pragma unroll
    for (int step = 128; step > 0; step >>= 1)
        if (pivot[below + step - 1] < r) below += step;
    if (below == 255 && pivot[255] < r) below = 256;
    int low = below == 0 ? 0 : (int)((size_t)n * (below - 1) / 256);
    int high = below == 256 ? n : (int)((size_t)n * below / 256);
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (__ldg(id + middle) < r)
            low = middle + 1;
        else
            high = middle;
    }
    start[r] = low;
}
