// Attitude from gyroscope rates: composes the small rotations of each track, in order, to one unit quaternion.
#include <cuda_runtime.h>

struct Quat {
    float w, x, y, z;
};

__device__ __forceinline__ Quat times(Quat a, Quat b) {
    return Quat{a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

__device__ __forceinline__ Quat turn(float x, float y, float z, float dt) {
    float norm = sqrtf(x * x + y * y + z * z);
    float half = 0.5f * dt * norm;
    float s = norm > 0.0f ? sinf(half) / norm : 0.5f * dt;
    return Quat{cosf(half), x * s, y * s, z * s};
}

__global__ void yaw(const float* rates, float* attitude, int tracks, int n, float dt) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tracks) return;
    const float* r = rates + (size_t)t * n * 3;
    Quat q{1.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < n; ++i) {
        float x = r[3 * i], y = r[3 * i + 1], z = r[3 * i + 2];
        if (x == 0.0f && y == 0.0f && z == 0.0f) break;
        q = times(q, turn(x, y, z, dt));
    }
    float inv = 1.0f / sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    attitude[4 * (size_t)t] = q.w * inv;
    attitude[4 * (size_t)t + 1] = q.x * inv;
    attitude[4 * (size_t)t + 2] = q.y * inv;
    attitude[4 * (size_t)t + 3] = q.z * inv;
}
