__global__ void rowptr(const int* id, int* start, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    int from = i == 0 ? 0 : max(0, min(id[i - 1], rows) + 1);
    int last = i == n ? rows : min(id[i], rows);
    for (int r = from; r <= last; ++r) start[r] = i;
}
