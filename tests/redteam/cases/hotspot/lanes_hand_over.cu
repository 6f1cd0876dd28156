// A chip's temperature a moment later: the power that a cell takes, what its neighbours give it (at the rim a cell is
// its own neighbour), and what goes to the air of 80 degrees.
__device__ float later(float t, float n, float s, float w, float e, float p, float rx, float ry, float rz, float k) {
    return t + k * (p + (n + s - 2.f * t) * ry + (w + e - 2.f * t) * rx + (80.f - t) * rz);
}

// A thread goes down sixteen rows of its column, and gets the cells beside it from the lanes beside it.
__global__ void hotspot(const float* temp, const float* power, float* out, int rows, int cols, float rx, float ry,
                        float rz, float k) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, c = min(at, cols - 1), lane = threadIdx.x % 32;
    int r = blockIdx.y * 16, end = min(r + 16, rows);
    if (r >= rows) return;
    size_t i = (size_t)r * cols + c;
    float t = temp[i], n = r > 0 ? temp[i - cols] : t;
    for (; r < end; ++r, i += cols) {
        float s = r + 1 < rows ? temp[i + cols] : t;
        float w = __shfl_up_sync(0xffffffffu, t, 1), e = __shfl_down_sync(0xffffffffu, t, 1);
        if (c == 0) w = t;
        else if (lane == 0) w = temp[i - 1];
        if (c + 1 == cols) e = t;
        else if (lane == 31) e = temp[i + 1];
        if (at < cols) out[i] = later(t, n, s, w, e, power[i], rx, ry, rz, k);
        n = t;
        t = s;
    }
}
