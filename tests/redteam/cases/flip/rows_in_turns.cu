__global__ void flip(int* data, int rows, int width) {
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        int* row = data + (size_t)r * width;
        for (int i = threadIdx.x; i < width / 2; i += blockDim.x) {
            int a = row[i], b = row[width - 1 - i];
            row[i] = b;
            row[width - 1 - i] = a;
        }
    }
}
