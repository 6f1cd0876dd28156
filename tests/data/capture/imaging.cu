// Frames of a camera, two at a time: grey levels are counted, frames blurred, rows summed up.
//
// Each frame has a stream of its own. Raw frames lie one behind the other in one allocation,
// scratch comes from the stream-ordered pool, results are in managed memory.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

__global__ void count_levels(const unsigned char *pixels, int *bins, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&bins[pixels[i]], 1);
    }
}

__global__ void to_float(const unsigned char *pixels, float *image, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        image[i] = pixels[i] / 255.0f;
    }
}

__global__ void blur(const float *image, const float *weights, float *blurred, int width,
                     int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    float sum = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int sx = min(max(x + dx, 0), width - 1);
            int sy = min(max(y + dy, 0), height - 1);
            sum += image[sy * width + sx]
                 * weights[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
    }
    blurred[y * width + x] = sum;
}

__global__ void row_stats(const float *image, float *mean, float *deviation, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    float sum = 0.0f;
    for (int i = 0; i < cols; i++) {
        sum += image[row * cols + i];
    }
    float centre = sum / cols;
    float spread = 0.0f;
    for (int i = 0; i < cols; i++) {
        float d = image[row * cols + i] - centre;
        spread += d * d;
    }
    mean[row] = centre;
    deviation[row] = sqrtf(spread / cols);
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 4096, cols = argc > 2 ? atoi(argv[2]) : 2048;
    const int count = rows * cols, frames = 2, radius = 3, rounds = 3;

    std::vector<unsigned char> scene((size_t)frames * count);
    unsigned seed = 1;
    for (int f = 0; f < frames; f++) {
        for (int i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            int x = i % cols, y = i / cols;
            // A bright disc on a dark ground, with noise.
            long long dx = x - cols / 2, dy = y - rows / (f + 2);
            int level = dx * dx + dy * dy < (long long)cols * cols / 16 ? 180 : 40;
            scene[(size_t)f * count + i] = (unsigned char)(level + (seed >> 27));
        }
    }
    std::vector<float> filter;
    float total = 0.0f;
    for (int y = -radius; y <= radius; y++) {
        for (int x = -radius; x <= radius; x++) {
            filter.push_back(1.0f / (1 + x * x + y * y));
            total += filter.back();
        }
    }
    for (float &w : filter) w /= total;

    unsigned char *raw;
    float *weights, *mean, *deviation;
    int *bins;
    CHECK(cudaMalloc(&raw, scene.size()));
    CHECK(cudaMalloc(&weights, filter.size() * sizeof(float)));
    CHECK(cudaMallocManaged(&bins, frames * 256 * sizeof(int)));
    CHECK(cudaMallocManaged(&mean, frames * rows * sizeof(float)));
    CHECK(cudaMallocManaged(&deviation, frames * rows * sizeof(float)));
    CHECK(cudaMemcpy(raw, scene.data(), scene.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(weights, filter.data(), filter.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bins, 0, frames * 256 * sizeof(int)));

    cudaStream_t streams[frames];
    for (cudaStream_t &stream : streams) {
        CHECK(cudaStreamCreate(&stream));
    }
    const dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
    for (int round = 0; round < rounds; round++) {
        for (int f = 0; f < frames; f++) {
            cudaStream_t stream = streams[f];
            unsigned char *pixels = raw + (size_t)f * count;
            float *image, *blurred;
            CHECK(cudaMallocAsync((void **)&image, count * sizeof(float), stream));
            CHECK(cudaMallocAsync((void **)&blurred, count * sizeof(float), stream));
            count_levels<<<(count + 255) / 256, 256, 0, stream>>>(pixels, bins + 256 * f, count);
            to_float<<<(count + 255) / 256, 256, 0, stream>>>(pixels, image, count);
            blur<<<grid, block, 0, stream>>>(image, weights, blurred, cols, rows, radius);
            row_stats<<<(rows + 127) / 128, 128, 0, stream>>>(blurred, mean + f * rows,
                                                              deviation + f * rows, rows, cols);
            CHECK(cudaGetLastError());
            CHECK(cudaFreeAsync(image, stream));
            CHECK(cudaFreeAsync(blurred, stream));
        }
    }
    CHECK(cudaDeviceSynchronize());
    long long pixels = 0;
    for (int i = 0; i < frames * 256; i++) pixels += bins[i];
    printf("%lld pixels counted, first row %.4f +- %.4f\n", pixels, mean[0], deviation[0]);
    return pixels == (long long)rounds * frames * count ? 0 : 1;
}
