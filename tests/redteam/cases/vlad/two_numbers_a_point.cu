#include <cuda_runtime.h>

// Aggregates local descriptors as NetVLAD does: every point is shared among clusters by a softmax of its scores,
// and a cluster adds up how far its points are from its centre.
__global__ void share_points(const float* score, float2* stat, int total, int clusters)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= total) return;
    const float* s = score + (size_t)p * clusters;
    float most = s[0];
    for (int k = 1; k < clusters; ++k) most = fmaxf(most, s[k]);
    float sum = 0.0f;
    for (int k = 0; k < clusters; ++k) sum += expf(s[k] - most);
    stat[p] = make_float2(most, 1.0f / sum);
}

__global__ void add_residuals(const float* x, const float* score, const float2* stat, const float* centre,
                              float* out, int points, int clusters, int dims)
{
    int k = blockIdx.x;
    int image = blockIdx.y;
    const float* s = score + (size_t)image * points * clusters + k;
    const float2* st = stat + (size_t)image * points;
    const float* own = x + (size_t)image * points * dims;
    for (int d = threadIdx.x; d < dims; d += blockDim.x) {
        float c = centre[(size_t)k * dims + d];
        float sum = 0.0f;
        for (int p = 0; p < points; ++p)
            sum += expf(s[(size_t)p * clusters] - st[p].x) * st[p].y * (own[(size_t)p * dims + d] - c);
        out[((size_t)image * clusters + k) * dims + d] = sum;
    }
}

__global__ void weigh_clusters(const float* score, const float2* stat, float* mass, int images, int points, int clusters)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= images * clusters) return;
    const float* s = score + (size_t)(i / clusters) * points * clusters + i % clusters;
    const float2* st = stat + (size_t)(i / clusters) * points;
    float sum = 0.0f;
    for (int p = 0; p < points; ++p) sum += expf(s[(size_t)p * clusters] - st[p].x) * st[p].y;
    mass[i] = sum;
}

void vlad(const float* x, const float* score, const float* centre, float* out, float* mass,
          int images, int points, int clusters, int dims)
{
    float2* stat = nullptr;
    cudaMallocAsync((void**)&stat, (size_t)images * points * sizeof(float2), 0);
    share_points<<<(images * points + 127) / 128, 128>>>(score, stat, images * points, clusters);
    add_residuals<<<dim3(clusters, images), 128>>>(x, score, stat, centre, out, points, clusters, dims);
    weigh_clusters<<<(images * clusters + 127) / 128, 128>>>(score, stat, mass, images, points, clusters);
    cudaFreeAsync(stat, 0);
}
