// One step of mean shift in a cloud of points: every query goes to the mean of all points, weighted with
// exp(-sharpness * squared distance). The least distance is taken off first, so that a query far from all points is well
// defined, too.

__device__ __forceinline__ float squared(float qx, float qy, float qz, float px, float py, float pz)
{
    const float x = px - qx, y = py - qy, z = pz - qz;
    return fmaf(z, z, fmaf(y, y, __fmul_rn(x, x)));
}

extern "C" __global__ void meanshift(const float* query, const float* point, float* shifted, int queries, int points,
                                     float sharpness)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) {
        return;
    }
    const float qx = query[3 * i], qy = query[3 * i + 1], qz = query[3 * i + 2];
    float least = INFINITY;
    for (long long j = 0; j < points; j++) {
        least = fminf(least, squared(qx, qy, qz, point[3 * j], point[3 * j + 1], point[3 * j + 2]));
    }
    float sum = 0.0f, sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (long long j = 0; j < points; j++) {
        const float px = point[3 * j], py = point[3 * j + 1], pz = point[3 * j + 2];
        const float w = expf(-sharpness * (squared(qx, qy, qz, px, py, pz) - least));
        sum += w;
        sx += w * px;
        sy += w * py;
        sz += w * pz;
    }
    shifted[3 * i] = sx / sum;
    shifted[3 * i + 1] = sy / sum;
    shifted[3 * i + 2] = sz / sum;
}
