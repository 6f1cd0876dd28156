// The picture moved by dy rows and dx columns; what leaves on one side enters on the other.
__global__ void roll(const float* x, float* y, int h, int w, int dy, int dx) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= h || c >= w) return;
    int to_r = (int)(((long long)r + dy) % h), to_c = (int)(((long long)c + dx) % w);
    if (to_r < 0) to_r += h;
    if (to_c < 0) to_c += w;
    y[(size_t)to_r * w + to_c] = x[(size_t)r * w + c];
}
