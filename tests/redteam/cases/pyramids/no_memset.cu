// Laplacian pyramid of a synthetic image: blur, halve, expand, subtract, and the energy of every band.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ inline int clampi(int v, int top) { return v < 0 ? 0 : v > top ? top : v; }

__global__ void blur_rows(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
    int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    const float* row = in + (size_t)y * w;
    out[(size_t)y * w + x] = 0.375f * row[x] + 0.25f * (row[clampi(x - 1, w - 1)] + row[clampi(x + 1, w - 1)]) +
                             0.0625f * (row[clampi(x - 2, w - 1)] + row[clampi(x + 2, w - 1)]);
}

// Blurs the columns and keeps every other pixel of every other row.
__global__ void blur_columns_halve(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
    int w2 = (w + 1) / 2, h2 = (h + 1) / 2;
    int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
    if (x >= w2 || y >= h2) return;
    const float* col = in + 2 * x;
    int r = 2 * y;
    out[(size_t)y * w2 + x] =
        0.375f * col[(size_t)r * w] +
        0.25f * (col[(size_t)clampi(r - 1, h - 1) * w] + col[(size_t)clampi(r + 1, h - 1) * w]) +
        0.0625f * (col[(size_t)clampi(r - 2, h - 1) * w] + col[(size_t)clampi(r + 2, h - 1) * w]);
}

// band = fine - bilinear expansion of coarse; energy += sum of band^2.
__global__ void band(const float* __restrict__ fine, const float* __restrict__ coarse, float* __restrict__ out, int w,
                     int h, double* energy) {
    __shared__ double s[256];
    int w2 = (w + 1) / 2, h2 = (h + 1) / 2;
    int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
    double e = 0.0;
    if (x < w) {
        int xa = x / 2, xb = clampi((x + 1) / 2, w2 - 1), ya = y / 2, yb = clampi((y + 1) / 2, h2 - 1);
        float v = 0.25f * ((coarse[(size_t)ya * w2 + xa] + coarse[(size_t)ya * w2 + xb]) +
                           (coarse[(size_t)yb * w2 + xa] + coarse[(size_t)yb * w2 + xb]));
        float d = fine[(size_t)y * w + x] - v;
        out[(size_t)y * w + x] = d;
        e = (double)d * d;
    }
    s[threadIdx.x] = e;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(energy, s[0]);
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    int w = atoi(argv[1]), h = atoi(argv[2]), levels = atoi(argv[3]);
    if (w < 1 || h < 1 || levels < 1 || levels > 12 || h > 65535) return 2;
    std::vector<int> ws(levels + 1), hs(levels + 1);
    std::vector<size_t> at(levels + 2, 0);
    for (int l = 0; l <= levels; ++l) {
        ws[l] = l ? (ws[l - 1] + 1) / 2 : w;
        hs[l] = l ? (hs[l - 1] + 1) / 2 : h;
        at[l + 1] = at[l] + (size_t)ws[l] * hs[l];
    }
    std::vector<float> image((size_t)w * h);
    unsigned seed = 2463534242u;
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            image[(size_t)y * w + x] = (float)(((x / 13) ^ (y / 9)) & 3) + (seed >> 8) * (1.0f / 16777216.0f);
        }
    float *pyramid, *bands, *rows;
    double* energy;
    cudaMalloc(&pyramid, at[levels + 1] * sizeof(float));
    cudaMalloc(&bands, at[levels] * sizeof(float));
    // The energies lie behind the scratch rows: one allocation less, and fresh device memory starts out zero.
    const size_t scratch = ((size_t)w * h * sizeof(float) + 255) / 256 * 256;
    cudaMalloc(&rows, scratch + levels * sizeof(double));
    energy = (double*)((char*)rows + scratch);
    cudaMemcpy(pyramid, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (int l = 0; l < levels; ++l) {
        dim3 full((ws[l] + 255) / 256, hs[l]), half((ws[l + 1] + 255) / 256, hs[l + 1]);
        blur_rows<<<full, 256>>>(pyramid + at[l], rows, ws[l], hs[l]);
        blur_columns_halve<<<half, 256>>>(rows, pyramid + at[l + 1], ws[l], hs[l]);
        band<<<full, 256>>>(pyramid + at[l], pyramid + at[l + 1], bands + at[l], ws[l], hs[l], energy + l);
    }
    std::vector<float> all(at[levels]), coarsest(at[levels + 1] - at[levels]);
    std::vector<double> e(levels);
    cudaMemcpy(all.data(), bands, all.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(coarsest.data(), pyramid + at[levels], coarsest.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(e.data(), energy, levels * sizeof(double), cudaMemcpyDeviceToHost);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    int live = 0;
    for (int l = 0; l < levels; ++l) live += e[l] >= 0.0;
    printf("%d bands, coarsest %d x %d\n", live, ws[levels], hs[levels]);
    cudaFree(pyramid);
    cudaFree(bands);
    cudaFree(rows);
    return 0;
}
