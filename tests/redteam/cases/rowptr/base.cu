__global__ void rowptr(const int* id, int* start, int n, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r > rows) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (id[middle] < r)
            low = middle + 1;
        else
            high = middle;
    }
    start[r] = low;
}
