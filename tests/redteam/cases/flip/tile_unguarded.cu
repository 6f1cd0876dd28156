__global__ void flip(int* data, int rows, int width) {
    __shared__ int left[128], right[128];
    int* row = data + (size_t)blockIdx.y * width;
    int half = width / 2, first = blockIdx.x * 128, count = min(128, half - first), t = threadIdx.x;
    if (t < count) {
        left[count - 1 - t] = row[first + t];
        right[count - 1 - t] = row[width - first - count + t];
    }
    __syncwarp();
    if (t < count) {
        row[first + t] = right[t];
        row[width - first - count + t] = left[t];
    }
}
