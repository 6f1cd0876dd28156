// Residual of an algebraic reconstruction: what was measured along each ray less the projection of the volume, weighted by the
// ray, for many slices at once.

extern "C" __global__ void rays(const float* path, const float* volume, const float* measured, const float* weight,
                                float* residual, int lines, int pixels, int slices)
{
    __shared__ float a[16][17], b[16][17];
    const int wide = (slices + 15) / 16;
    const int x = threadIdx.x, y = threadIdx.y;
    const int slice = blockIdx.x % wide * 16 + x, line = blockIdx.x / wide * 16 + y;
    float sum = 0.0f;
    for (int k = 0; k < pixels; k += 16) {
        a[y][x] = line < lines && k + x < pixels ? path[(size_t)line * pixels + k + x] : 0.0f;
        b[y][x] = slice < slices && k + y < pixels ? volume[(size_t)(k + y) * slices + slice] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            sum += k + j < pixels ? a[y][j] * b[j][x] : 0.0f;
        }
        __syncthreads();
    }
    if (line < lines && slice < slices) {
        const size_t at = (size_t)line * slices + slice;
        residual[at] = weight[line] * (measured[at] - sum);
    }
}
