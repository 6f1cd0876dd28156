// Optical flow between two frames after Horn and Schunck: the brightness equation and a smooth field, by Jacobi steps
// from a field of zeros. Borders repeat the outermost pixels.
#include <cuda_runtime.h>

constexpr int BX = 32;
constexpr int BY = 8;

__global__ void gradients(const float* f0, const float* f1, float* gx, float* gy, float* gt, float* ga, int w, int h,
                          float alpha2)
{
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const long long row = (long long)y * w;
    const long long up = (long long)max(y - 1, 0) * w, down = (long long)min(y + 1, h - 1) * w;
    const int left = max(x - 1, 0), right = min(x + 1, w - 1);
    const float ix = 0.25f * (f0[row + right] - f0[row + left] + f1[row + right] - f1[row + left]);
    const float iy = 0.25f * (f0[down + x] - f0[up + x] + f1[down + x] - f1[up + x]);
    gx[row + x] = ix;
    gy[row + x] = iy;
    ga[row + x] = 1.0f / (alpha2 + ix * ix + iy * iy);
    gt[row + x] = f1[row + x] - f0[row + x];
}

__global__ void step(const float* gx, const float* gy, const float* gt, const float* ga, const float* u,
                     const float* v, float* un, float* vn, int w, int h)
{
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const long long row = (long long)y * w;
    const long long up = (long long)max(y - 1, 0) * w, down = (long long)min(y + 1, h - 1) * w;
    const int left = max(x - 1, 0), right = min(x + 1, w - 1);
    const float mu = 0.25f * (u[row + left] + u[row + right] + u[up + x] + u[down + x]);
    const float mv = 0.25f * (v[row + left] + v[row + right] + v[up + x] + v[down + x]);
    const float ix = gx[row + x], iy = gy[row + x];
    const float r = (ix * mu + iy * mv + gt[row + x]) * ga[row + x];
    un[row + x] = mu - ix * r;
    vn[row + x] = mv - iy * r;
}

void optic(const float* f0, const float* f1, float* u, float* v, int w, int h, float alpha2, int steps)
{
    const size_t size = (size_t)w * h;
    float* work;
    cudaMallocAsync(&work, 6 * size * sizeof(float), 0);
    float *gx = work, *gy = gx + size, *gt = gy + size, *ga = gt + 3 * size;
    float* field[2][2] = {{u, v}, {gt + size, gt + 2 * size}};
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    gradients<<<grid, block>>>(f0, f1, gx, gy, gt, ga, w, h, alpha2);
    int now = steps % 2;                        // so that the last step writes to u and v
    cudaMemsetAsync(field[now][0], 0, size * sizeof(float), 0);
    cudaMemsetAsync(field[now][1], 0, size * sizeof(float), 0);
    for (int s = 0; s < steps; ++s) {
        step<<<grid, block>>>(gx, gy, gt, ga, field[now][0], field[now][1], field[1 - now][0], field[1 - now][1], w,
                              h);
        now = 1 - now;
    }
    cudaFreeAsync(work, 0);
}
