__global__ void relax(float* u, const float* f, int h, int w, int colour) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1 || (x + y) % 2 != colour % 2) return;
    int i = y * w + x;
    u[i] += 1.2f * (0.25f * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - f[i]) - u[i]);
}
