__global__ void relax(float* u, const float* __restrict__ f, int h, int w, int colour) {
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const int i = y * w + x;
    const float v = u[i];
    u[i] = v + 1.2f * (0.25f * ((u[i - 1] + u[i + 1]) + (u[i - w] + u[i + w]) - f[i]) - v);
}
