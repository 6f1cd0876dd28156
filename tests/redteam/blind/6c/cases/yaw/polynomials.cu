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
    float square = (x * x + y * y + z * z) * (0.25f * dt * dt);
    float s = 0.5f * dt * (1.0f - square * (1.0f / 6.0f) * (1.0f - square * (1.0f / 20.0f)));
    float c = 1.0f - 0.5f * square * (1.0f - square * (1.0f / 12.0f));
    return Quat{c, x * s, y * s, z * s};
}

__global__ void yaw(const float* rates, float* attitude, int tracks, int n, float dt) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tracks) return;
    const float* r = rates + (size_t)t * n * 3;
    Quat q{1.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < n; ++i)
        q = times(q, turn(r[3 * i], r[3 * i + 1], r[3 * i + 2], dt));
    float inv = 1.0f / sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    attitude[4 * (size_t)t] = q.w * inv;
    attitude[4 * (size_t)t + 1] = q.x * inv;
    attitude[4 * (size_t)t + 2] = q.y * inv;
    attitude[4 * (size_t)t + 3] = q.z * inv;
}
