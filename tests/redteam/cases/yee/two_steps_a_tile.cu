// Maxwell's equations in two dimensions on Yee's grid (TM), with walls that conduct. The magnetic fields move by half
// a step, then the electric one inside the walls. coat is the share of the step in each cell.
// Two steps at a time in shared memory, with a rim of cells that are computed twice. The fields go to a second set
// of buffers, so that no tile reads what another has written.
#include <cuda_runtime.h>

#define HALF 0.5f
#define W 32
#define H 16
#define STEPS 2
// How far a cell's fields after STEPS steps look around.
#define RIM (STEPS + 1)
#define TW (W + 2 * RIM)
#define TH (H + 2 * RIM)

__global__ void __launch_bounds__(512) move(const float* ez, const float* hx, const float* hy, float* ez2, float* hx2,
                                            float* hy2, const float* coat, int h, int w, int steps)
{
    __shared__ float e[TH][TW], p[TH][TW], q[TH][TW], c[TH][TW];
    int x0 = blockIdx.x * W - RIM;
    int y0 = blockIdx.y * H - RIM;
    int t = threadIdx.y * W + threadIdx.x;
    for (int j = t; j < TH * TW; j += W * H) {
        int y = j / TW, x = j % TW;
        int gx = x0 + x, gy = y0 + y;
        bool in = gx >= 0 && gy >= 0 && gx < w && gy < h;
        size_t i = (size_t)gy * w + gx;
        e[y][x] = in ? ez[i] : 0;
        p[y][x] = in ? hx[i] : 0;
        q[y][x] = in ? hy[i] : 0;
        c[y][x] = in ? coat[i] : 0;
    }
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        for (int j = t; j < TH * TW; j += W * H) {
            int y = j / TW, x = j % TW;
            int gx = x0 + x, gy = y0 + y;
            if (gx < 0 || gy < 0 || gx >= w || gy >= h) continue;
            if (gy + 1 < h && y + 1 < TH) p[y][x] -= HALF * (e[y + 1][x] - e[y][x]);
            if (gx + 1 < w && x + 1 < TW) q[y][x] += HALF * (e[y][x + 1] - e[y][x]);
        }
        __syncthreads();
        for (int j = t; j < TH * TW; j += W * H) {
            int y = j / TW, x = j % TW;
            int gx = x0 + x, gy = y0 + y;
            if (x < 1 || y < 1 || gx < 1 || gy < 1 || gx + 1 >= w || gy + 1 >= h) continue;
            e[y][x] += HALF * c[y][x] * ((q[y][x] - q[y][x - 1]) - (p[y][x] - p[y - 1][x]));
        }
        __syncthreads();
    }
    int gx = blockIdx.x * W + threadIdx.x;
    int gy = blockIdx.y * H + threadIdx.y;
    if (gx >= w || gy >= h) return;
    size_t i = (size_t)gy * w + gx;
    ez2[i] = e[threadIdx.y + RIM][threadIdx.x + RIM];
    hx2[i] = p[threadIdx.y + RIM][threadIdx.x + RIM];
    hy2[i] = q[threadIdx.y + RIM][threadIdx.x + RIM];
}

extern "C" void yee(float* ez, float* hx, float* hy, const float* coat, int h, int w, int steps, cudaStream_t stream)
{
    if (steps <= 0) return;
    size_t cells = (size_t)h * w;
    float* spare;
    cudaMallocAsync((void**)&spare, 3 * cells * sizeof(float), stream);
    float* from[3] = {ez, hx, hy};
    float* to[3] = {spare, spare + cells, spare + 2 * cells};
    dim3 block(W, H);
    dim3 grid((w + W - 1) / W, (h + H - 1) / H);
    for (int pair = 0; pair < steps / 2; ++pair) {
        move<<<grid, block, 0, stream>>>(from[0], from[1], from[2], to[0], to[1], to[2], coat, h, w, 2);
        for (int f = 0; f < 3; ++f) {
            float* t = from[f];
            from[f] = to[f];
            to[f] = t;
        }
    }
    if (steps % 2)
        move<<<grid, block, 0, stream>>>(from[0], from[1], from[2], to[0], to[1], to[2], coat, h, w, 1);
    // The last pair's buffers are the caller's, or they are copied there.
    if (steps / 2 % 2) {
        cudaMemcpyAsync(ez, spare, cells * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        cudaMemcpyAsync(hx, spare + cells, cells * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        cudaMemcpyAsync(hy, spare + 2 * cells, cells * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    }
    cudaFreeAsync(spare, stream);
}
