// Each row backwards, in place.
__global__ void flip(int* data, int rows, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* row = data + (size_t)blockIdx.y * width;
    if (i >= width) return;
    int v = row[width - 1 - i];
    __syncthreads();
    row[i] = v;
}
