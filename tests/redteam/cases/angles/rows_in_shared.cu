// The angle between two directions in space; where one has no length, zero.
// A block reads its numbers in their order, and what is beyond the end not at all.
__global__ void angles(const float* a, const float* b, float* out, int n) {
    __shared__ float from[256 * 3], to[256 * 3];
    int t = threadIdx.x, many = min(256, n - (int)blockIdx.x * 256) * 3;
    size_t start = (size_t)blockIdx.x * 256 * 3;
    for (int k = t; k < many; k += 256) {
        from[k] = a[start + k];
        to[k] = b[start + k];
    }
    __syncthreads();
    if (3 * t >= many) return;
    float ax = from[3 * t], ay = from[3 * t + 1], az = from[3 * t + 2];
    float bx = to[3 * t], by = to[3 * t + 1], bz = to[3 * t + 2];
    float x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
    float across = sqrtf(x * x + y * y + z * z), along = ax * bx + ay * by + az * bz;
    out[start / 3 + t] = across == 0.f && along == 0.f ? 0.f : atan2f(across, along);
}
