// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* own = x + (size_t)r * cols;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c) {
        float d = own[c] - mu[c];
        sum += w[c] * d * d;
    }
    out[r] = sum;
}
