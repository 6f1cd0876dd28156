__global__ void rowptr(const int* id, int* start, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row = min(id[i], rows);
    int before = i == 0 ? -1 : min(id[i - 1], rows);
    for (int r = max(before + 1, 0); r <= row; ++r) start[r] = i;
    if (i == n - 1) start[rows] = n;
}
