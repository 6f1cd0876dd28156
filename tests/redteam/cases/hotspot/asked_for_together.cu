// A chip's temperature a moment later: the power that a cell takes, what its neighbours give it (at the rim a cell is
// its own neighbour), and what goes to the air of 80 degrees.
__device__ float later(float t, float n, float s, float w, float e, float p, float rx, float ry, float rz, float k) {
    return t + k * (p + (n + s - 2.f * t) * ry + (w + e - 2.f * t) * rx + (80.f - t) * rz);
}

// A thread goes down sixteen rows of its column. A cell's neighbours are asked for together with it, so that nothing
// waits for a comparison; at the rim they are put right afterwards.
__global__ void hotspot(const float* temp, const float* power, float* out, int rows, int cols, float rx, float ry,
                        float rz, float k) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * 16, end = min(r + 16, rows);
    if (c >= cols || r >= rows) return;
    size_t i = (size_t)r * cols + c;
    float t = temp[i], n = r > 0 ? temp[i - cols] : t;
    for (; r < end; ++r, i += cols) {
        const float* at = temp + i;
        float w = at[-1], e = at[1], s = r + 1 < rows ? at[cols] : t;
        if (c == 0) w = t;
        if (c + 1 == cols) e = t;
        out[i] = later(t, n, s, w, e, power[i], rx, ry, rz, k);
        n = t;
        t = s;
    }
}
