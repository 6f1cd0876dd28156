// A number less a part of the mean of its six neighbours; borders look back into the volume.
__device__ int mirrored(int i, int n) { return n == 1 ? 0 : min(abs(i), 2 * n - 2 - i); }

__global__ void volume(const float* x, float* y, int d, int h, int w, float k) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (c >= w || r >= h) return;
    auto at = [&](int z, int r, int c) { return x[((size_t)z * h + r) * w + c]; };
    float around = at(mirrored(z - 1, d), r, c) + at(mirrored(z + 1, d), r, c) +
                   at(z, mirrored(r - 1, h), c) + at(z, mirrored(r + 1, h), c) +
                   at(z, r, mirrored(c - 1, w)) + at(z, r, mirrored(c + 1, w));
    y[((size_t)z * h + r) * w + c] = at(z, r, c) - k * (around / 6.f);
}
