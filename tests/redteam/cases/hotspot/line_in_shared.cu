// A chip's temperature a moment later: the power that a cell takes, what its neighbours give it (at the rim a cell is
// its own neighbour), and what goes to the air of 80 degrees.
__device__ float later(float t, float n, float s, float w, float e, float p, float rx, float ry, float rz, float k) {
    return t + k * (p + (n + s - 2.f * t) * ry + (w + e - 2.f * t) * rx + (80.f - t) * rz);
}

// A block goes down sixteen rows of 256 columns, the row that it is at in shared memory, and those above and below in
// registers.
__global__ void hotspot(const float* temp, const float* power, float* out, int rows, int cols, float rx, float ry,
                        float rz, float k) {
    __shared__ float line[258];
    int t = threadIdx.x, at = blockIdx.x * 256 + t, c = min(at, cols - 1);
    int r = blockIdx.y * 16, end = min(r + 16, rows);
    size_t i = (size_t)r * cols + c;
    float here = temp[i], n = r > 0 ? temp[i - cols] : here;
    for (; r < end; ++r, i += cols) {
        float s = r + 1 < rows ? temp[i + cols] : here;
        line[t + 1] = here;
        if (t == 0) line[0] = c > 0 ? temp[i - 1] : here;
        if (t == 255) line[257] = c + 1 < cols ? temp[i + 1] : here;
        __syncthreads();
        float w = line[t], e = c + 1 < cols ? line[t + 2] : here;
        if (at < cols) out[i] = later(here, n, s, w, e, power[i], rx, ry, rz, k);
        n = here;
        here = s;
    }
}
