#include <cuda_runtime.h>

// Aggregates local descriptors as NetVLAD does: every point is shared among clusters by a softmax of its scores,
// and a cluster adds up how far its points are from its centre.
__global__ void share_points(const float* score, float* weight, int total, int clusters)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= total) return;
    const float* s = score + (size_t)p * clusters;
    float* w = weight + (size_t)p * clusters;
    float most = s[0];
    for (int k = 1; k < clusters; ++k) most = fmaxf(most, s[k]);
    float sum = 0.0f;
    for (int k = 0; k < clusters; ++k) sum += expf(s[k] - most);
    for (int k = 0; k < clusters; ++k) w[k] = expf(s[k] - most) / sum;
}

__global__ void add_residuals(const float* x, const float* weight, const float* centre, float* out,
                              int points, int clusters, int dims)
{
    int k = blockIdx.x;
    int image = blockIdx.y;
    const float* w = weight + (size_t)image * points * clusters + k;
    const float* own = x + (size_t)image * points * dims;
    __shared__ float part[4][32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int from = 0; from < dims; from += 32) {
        int d = from + lane;
        float sum = 0.0f;
        if (d < dims) {
            float c = centre[(size_t)k * dims + d];
            for (int p = warp; p < points; p += 4)
                sum += w[(size_t)p * clusters] * (own[(size_t)p * dims + d] - c);
        }
        part[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && d < dims)
            out[((size_t)image * clusters + k) * dims + d]
                = (part[0][lane] + part[1][lane]) + (part[2][lane] + part[3][lane]);
        __syncthreads();
    }
}

__global__ void weigh_clusters(const float* weight, float* mass, int images, int points, int clusters)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= images * clusters) return;
    const float* w = weight + (size_t)(i / clusters) * points * clusters + i % clusters;
    float sum = 0.0f;
    for (int p = 0; p < points; ++p) sum += w[(size_t)p * clusters];
    mass[i] = sum;
}

void vlad(const float* x, const float* score, const float* centre, float* out, float* mass,
          int images, int points, int clusters, int dims)
{
    float* weight = nullptr;
    cudaMallocAsync((void**)&weight, (size_t)images * points * clusters * sizeof(float), 0);
    share_points<<<(images * points + 127) / 128, 128>>>(score, weight, images * points, clusters);
    add_residuals<<<dim3(clusters, images), 128>>>(x, weight, centre, out, points, clusters, dims);
    weigh_clusters<<<(images * clusters + 127) / 128, 128>>>(weight, mass, images, points, clusters);
    cudaFreeAsync(weight, 0);
}
