// Residual of an algebraic reconstruction: what was measured along each ray less the projection of the volume, weighted by the
// ray, for many slices at once.

extern "C" __global__ void rays(const float* path, const float* volume, const float* measured, const float* weight,
                                float* residual, int lines, int pixels, int slices)
{
    __shared__ float a[16][68], b[16][64];
    const int wide = (slices + 63) / 64;
    const int slice0 = blockIdx.x % wide * 64, line0 = blockIdx.x / wide * 64;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum[4][4] = {};
    for (int k = 0; k < pixels; k += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            const int r = i / 16, c = i % 16;
            a[c][r] = line0 + r < lines && k + c < pixels ? path[(size_t)(line0 + r) * pixels + k + c] : 0.0f;
        }
        for (int i = threadIdx.x; i < 1024; i += 256) {
            const int r = i / 64, c = i % 64;
            b[r][c] = slice0 + c < slices && k + r < pixels ? volume[(size_t)(k + r) * slices + slice0 + c] : 0.0f;
        }
        __syncthreads();
        const int count = min(16, pixels - k);
        for (int j = 0; j < count; j++) {
            float p[4], q[4];
            for (int i = 0; i < 4; i++) {
                p[i] = a[j][4 * y + i];
                q[i] = b[j][4 * x + i];
            }
            for (int i = 0; i < 4; i++) {
                for (int l = 0; l < 4; l++) {
                    sum[i][l] += p[i] * q[l];
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int l = 0; l < 4; l++) {
            const int line = line0 + 4 * y + i, slice = slice0 + 4 * x + l;
            if (line < lines && slice < slices) {
                const size_t at = (size_t)line * slices + slice;
                residual[at] = weight[line] * (measured[at] - sum[i][l]);
            }
        }
    }
}
