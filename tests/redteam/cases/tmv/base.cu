// The columns of a matrix, weighted and added up.
__global__ void tmv(const float* a, const float* v, float* out, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r) sum += a[(size_t)r * cols + c] * v[r];
    out[c] = sum;
}
