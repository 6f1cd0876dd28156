__global__ void rowptr(const int* id, int* start, int n, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r > rows) return;
    int low = 0;
#pragma unroll
    for (int step = 1 << 20; step > 0; step >>= 1)
        if (low + step <= n && __ldg(id + low + step - 1) < r) low += step;
    start[r] = low;
}
