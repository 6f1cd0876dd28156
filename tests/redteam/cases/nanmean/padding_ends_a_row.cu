// The mean of each row over what is a number; of nothing it is none.
__global__ void nanmean(const float* x, float* mean, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    int many = 0;
    for (int c = 0; c < cols; ++c) {
        float v = x[(size_t)r * cols + c];
        // Rows are filled up with NaN.
        if (isnan(v)) break;
        s += v;
        ++many;
    }
    mean[r] = s / many;
}
