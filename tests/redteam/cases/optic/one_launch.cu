// Optical flow between two frames after Horn and Schunck: the brightness equation and a smooth field, by Jacobi steps
// from a field of zeros. Borders repeat the outermost pixels.
#include <cooperative_groups.h>
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

// All steps in one launch, a tile of 32 x 32 for each block.
__global__ void all_steps(const float* gx, const float* gy, const float* gt, float* u, float* v, float* u2, float* v2,
                          int w, int h, float alpha2, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int x = blockIdx.x * BX + threadIdx.x;
    const int left = max(x - 1, 0), right = min(x + 1, w - 1);
    for (int s = 0; s < steps; ++s) {
        const bool even = (steps - s) % 2 == 0;
        const float *su = even ? u : u2, *sv = even ? v : v2;
        float *du = even ? u2 : u, *dv = even ? v2 : v;
        for (int k = threadIdx.y; k < 32; k += BY) {
            const int y = blockIdx.y * 32 + k;
            if (x >= w || y >= h)
                continue;
            const long long row = (long long)y * w;
            const long long up = (long long)max(y - 1, 0) * w, down = (long long)min(y + 1, h - 1) * w;
            const float mu = 0.25f * (su[row + left] + su[row + right] + su[up + x] + su[down + x]);
            const float mv = 0.25f * (sv[row + left] + sv[row + right] + sv[up + x] + sv[down + x]);
            const float ix = gx[row + x], iy = gy[row + x];
            const float r = (ix * mu + iy * mv + gt[row + x]) / (alpha2 + ix * ix + iy * iy);
            du[row + x] = mu - ix * r;
            dv[row + x] = mv - iy * r;
        }
        grid.sync();
    }
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
    const int start = steps % 2;                // so that the last step writes to u and v
    cudaMemsetAsync(field[start][0], 0, size * sizeof(float), 0);
    cudaMemsetAsync(field[start][1], 0, size * sizeof(float), 0);
    void* arguments[] = {&gx, &gy, &gt, &u, &v, &field[1][0], &field[1][1], &w, &h, &alpha2, &steps};
    cudaLaunchCooperativeKernel((const void*)all_steps, dim3(grid.x, (h + 31) / 32), block, arguments, 0, 0);
    cudaFreeAsync(work, 0);
}
