// Optical flow between two frames after Horn and Schunck: the brightness equation and a smooth field, by Jacobi steps
// from a field of zeros. Borders repeat the outermost pixels.
#include <cuda_runtime.h>

constexpr int BX = 32;
constexpr int BY = 8;

__global__ void gradients(const float* f0, const float* f1, float* gx, float* gy, float* gt, int w, int h)
{
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const long long row = (long long)y * w;
    const long long up = (long long)max(y - 1, 0) * w, down = (long long)min(y + 1, h - 1) * w;
    const int left = max(x - 1, 0), right = min(x + 1, w - 1);
    gx[row + x] = 0.25f * (f0[row + right] - f0[row + left] + f1[row + right] - f1[row + left]);
    gy[row + x] = 0.25f * (f0[down + x] - f0[up + x] + f1[down + x] - f1[up + x]);
    gt[row + x] = f1[row + x] - f0[row + x];
}

__global__ void step(const float* gx, const float* gy, const float* gt, const float* u, const float* v, float* un,
                     float* vn, int w, int h, float alpha2)
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
    const float r = (ix * mu + iy * mv + gt[row + x]) / (alpha2 + ix * ix + iy * iy);
    un[row + x] = mu - ix * r;
    vn[row + x] = mv - iy * r;
}

// Two steps in a launch: the first one for the block's pixels and those beside them.
__global__ void two_steps(const float* gx, const float* gy, const float* gt, const float* u, const float* v, float* un,
                          float* vn, int w, int h, float alpha2)
{
    __shared__ float mid[2][BY + 2][BX + 2];
    const int x0 = blockIdx.x * BX - 1, y0 = blockIdx.y * BY - 1;
    for (int k = threadIdx.y * BX + threadIdx.x; k < (BX + 2) * (BY + 2); k += BX * BY) {
        const int x = min(max(x0 + k % (BX + 2), 0), w - 1);
        const int y = min(max(y0 + k / (BX + 2), 0), h - 1);
        const int xs = x0 + k % (BX + 2), ys = y0 + k / (BX + 2);
        const long long up = (long long)min(max(ys - 1, 0), h - 1) * w;
        const long long down = (long long)min(max(ys + 1, 0), h - 1) * w;
        const int left = min(max(xs - 1, 0), w - 1), right = min(max(xs + 1, 0), w - 1);
        const long long row = (long long)y * w;
        const float mu = 0.25f * (u[row + left] + u[row + right] + u[up + x] + u[down + x]);
        const float mv = 0.25f * (v[row + left] + v[row + right] + v[up + x] + v[down + x]);
        const float ix = gx[row + x], iy = gy[row + x];
        const float r = (ix * mu + iy * mv + gt[row + x]) / (alpha2 + ix * ix + iy * iy);
        mid[0][k / (BX + 2)][k % (BX + 2)] = mu - ix * r;
        mid[1][k / (BX + 2)][k % (BX + 2)] = mv - iy * r;
    }
    __syncthreads();
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int i = threadIdx.y + 1, j = threadIdx.x + 1;
    const float mu = 0.25f * (mid[0][i][j - 1] + mid[0][i][j + 1] + mid[0][i - 1][j] + mid[0][i + 1][j]);
    const float mv = 0.25f * (mid[1][i][j - 1] + mid[1][i][j + 1] + mid[1][i - 1][j] + mid[1][i + 1][j]);
    const long long at = (long long)y * w + x;
    const float ix = gx[at], iy = gy[at];
    const float r = (ix * mu + iy * mv + gt[at]) / (alpha2 + ix * ix + iy * iy);
    un[at] = mu - ix * r;
    vn[at] = mv - iy * r;
}

void optic(const float* f0, const float* f1, float* u, float* v, int w, int h, float alpha2, int steps)
{
    const size_t size = (size_t)w * h;
    float* work;
    cudaMallocAsync(&work, 5 * size * sizeof(float), 0);
    float *gx = work, *gy = gx + size, *gt = gy + size;
    float* field[2][2] = {{u, v}, {gt + size, gt + 2 * size}};
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    gradients<<<grid, block>>>(f0, f1, gx, gy, gt, w, h);
    int now = (steps + 1) / 2 % 2;              // so that the last launch writes to u and v
    cudaMemsetAsync(field[now][0], 0, size * sizeof(float), 0);
    cudaMemsetAsync(field[now][1], 0, size * sizeof(float), 0);
    for (int s = 0; s < steps; s += 2) {
        auto* kernel = s + 1 < steps ? two_steps : step;
        kernel<<<grid, block>>>(gx, gy, gt, field[now][0], field[now][1], field[1 - now][0], field[1 - now][1], w, h,
                                alpha2);
        now = 1 - now;
    }
    cudaFreeAsync(work, 0);
}
