// Where the largest numbers of a row lie: the mean of the places, weighted by a softmax.
__global__ void softargmax(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    x += (size_t)r * cols;
    float top = -INFINITY, sum = 0.f, place = 0.f;
    for (int c = 0; c < cols; ++c) top = fmaxf(top, x[c]);
    for (int c = 0; c < cols; ++c) {
        float e = expf(x[c] - top);
        sum += e;
        place += e * c;
    }
    out[r] = place / sum;
}
