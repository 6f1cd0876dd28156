#include <cuda_pipeline.h>
// Correlation layer of an optical flow network: the mean product of the features of each point of the first
// picture with those of the second around it, for all shifts up to `radius` in both directions. What lies outside
// of the second picture counts as zero. The lines of the next channels are copied to shared memory while those of
// the present ones are multiplied.
#define SHIFTS 8
#define CHUNK 4
#define WIDTH (32 + SHIFTS)

extern "C" __global__ void __launch_bounds__(256)
    costvolume(const float* __restrict__ first, const float* __restrict__ second, float* __restrict__ volume,
               int channels, int h, int w, int radius) {
    __shared__ float line[2][CHUNK][8][WIDTH];
    int left = blockIdx.x * 32, top = blockIdx.y * 8;
    int x = left + threadIdx.x, y = top + threadIdx.y;
    int thread = threadIdx.y * 32 + threadIdx.x;
    bool inside = x < w && y < h;
    size_t plane = (size_t)h * w;
    size_t begin = blockIdx.z * (size_t)channels * plane;
    int side = 2 * radius + 1;
    size_t place = (size_t)blockIdx.z * side * side * plane + (size_t)y * w + x;
    float scale = 1.0f / channels;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; dx += SHIFTS) {
            float sum[SHIFTS] = {};
            auto fetch = [&](int c, int room) {
                for (int i = thread; i < CHUNK * 8 * WIDTH; i += 256) {
                    int k = i / (8 * WIDTH), row = i / WIDTH % 8, column = i % WIDTH;
                    int v = top + row + dy, u = left + column + dx;
                    float* to = &line[room][k][row][column];
                    if (c + k < channels && v >= 0 && v < h && u >= 0 && u < w)
                        __pipeline_memcpy_async(to, &second[begin + (c + k) * plane + (size_t)v * w + u], 4);
                    else
                        *to = 0.0f;
                }
            };
            __syncthreads();
            fetch(0, 0);
            __pipeline_commit();
            int room = 0;
            for (int c = 0; c < channels; c += CHUNK, room ^= 1) {
                if (c + CHUNK < channels) fetch(c + CHUNK, room ^ 1);
                __pipeline_commit();
                __pipeline_wait_prior(1);
                __syncthreads();
                if (inside)
                    for (int k = 0; k < CHUNK && c + k < channels; ++k) {
                        float mine = first[begin + (c + k) * plane + (size_t)y * w + x];
#pragma unroll
                        for (int s = 0; s < SHIFTS; ++s) {
                            int u = x + dx + s;
                            if (u >= 0 && u < w && y + dy >= 0 && y + dy < h)
                                sum[s] = fmaf(mine, line[room][k][threadIdx.y][threadIdx.x + s], sum[s]);
                        }
                    }
            }
            if (inside)
#pragma unroll
                for (int s = 0; s < SHIFTS; ++s)
                    if (dx + s <= radius)
                        volume[place + ((size_t)(dy + radius) * side + (dx + s + radius)) * plane] = sum[s] * scale;
        }
}
