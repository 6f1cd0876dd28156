// The angle between two directions in space; where one has no length, zero.
__global__ void angles(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = a[3 * i], ay = a[3 * i + 1], az = a[3 * i + 2];
    float bx = b[3 * i], by = b[3 * i + 1], bz = b[3 * i + 2];
    float x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
    float across = sqrtf(x * x + y * y + z * z), along = ax * bx + ay * by + az * bz;
    out[i] = across == 0.f && along == 0.f ? 0.f : atan2f(across, along);
}
