// Faces of an animation: the neutral one, and of each shape as much as the frame has of it.
__global__ void faces(const float* weight, const float* delta, const float* neutral, float* out, int frames, int shapes,
                      int points) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)frames * points) return;
    const float *row = weight + i / points * shapes, *col = delta + i % points;
    float sum = 0.f;
    for (int s = 0; s < shapes; ++s) sum += row[s] * col[(size_t)s * points];
    out[i] = neutral[i % points] + sum;
}
