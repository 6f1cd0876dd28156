__global__ void ell(const int* column, const float* value, const float* x, float* y, int rows,
                    int width) {
    // Four groups of 32 threads look at every fourth entry of the same 32 rows.
    __shared__ float part[4][32];
    int lane = threadIdx.x % 32, group = threadIdx.x / 32, row = blockIdx.x * 32 + lane;
    float s = 0.f;
    if (row < rows)
        for (int k = group; k < width; k += 4) {
            int c = column[(size_t)k * rows + row];
            if (c >= 0) s += value[(size_t)k * rows + row] * x[c];
        }
    part[group][lane] = s;
    __syncthreads();
    if (group == 0 && row < rows) y[row] = part[0][lane] + part[1][lane] + part[2][lane] + part[3][lane];
}
