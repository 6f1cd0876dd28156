// Each row backwards, in place.
__global__ void flip(int* data, int rows, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* row = data + (size_t)blockIdx.y * width;
    if (i >= width / 2) return;
    int v = row[i];
    row[i] = row[width - 1 - i];
    row[width - 1 - i] = v;
}
