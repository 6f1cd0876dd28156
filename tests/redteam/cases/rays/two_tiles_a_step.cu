// Residual of an algebraic reconstruction: what was measured along each ray less the projection of the volume, weighted by the
// ray, for many slices at once.

extern "C" __global__ void rays(const float* path, const float* volume, const float* measured, const float* weight,
                                float* residual, int lines, int pixels, int slices)
{
    __shared__ float a[16][36], b[32][16];
    const int wide = (slices + 15) / 16;
    const int x = threadIdx.x, y = threadIdx.y;
    const int slice = blockIdx.x % wide * 16 + x, line = blockIdx.x / wide * 16 + y;
    const float* row = path + (size_t)line * pixels;
    float sum = 0.0f;
    int k = 0;
    // Two columns of tiles a step, without a question for each number.
    for (; k + 32 <= pixels; k += 32) {
        a[y][x] = line < lines ? row[k + x] : 0.0f;
        a[y][x + 16] = line < lines ? row[k + 16 + x] : 0.0f;
        b[y][x] = slice < slices ? volume[(size_t)(k + y) * slices + slice] : 0.0f;
        b[y + 16][x] = slice < slices ? volume[(size_t)(k + 16 + y) * slices + slice] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++) {
            sum += a[y][j] * b[j][x];
        }
        __syncthreads();
    }
    // The tile that is not full.
    if (k < pixels) {
        a[y][x] = line < lines && k + x < pixels ? row[k + x] : 0.0f;
        b[y][x] = slice < slices && k + y < pixels ? volume[(size_t)(k + y) * slices + slice] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            sum += k + j < pixels ? a[y][j] * b[j][x] : 0.0f;
        }
    }
    if (line < lines && slice < slices) {
        const size_t at = (size_t)line * slices + slice;
        residual[at] = weight[line] * (measured[at] - sum);
    }
}
