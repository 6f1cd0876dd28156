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
    float least = INFINITY, sum = 0.0f, sx = 0.0f, sy = 0.0f, sz = 0.0f;
    // The next point is on its way while this one is weighed.
    float nx = point[0], ny = point[1], nz = point[2];
#pragma unroll 1
    for (long long j = 0; j < points; j++) {
        const float px = nx, py = ny, pz = nz;
        nx = __ldg(point + 3 * j + 3);
        ny = __ldg(point + 3 * j + 4);
        nz = __ldg(point + 3 * j + 5);
        const float d = squared(qx, qy, qz, px, py, pz);
        if (d < least) {
            // Nothing has counted yet where the least distance is infinite.
            const float keep = least == INFINITY ? 1.0f : expf(-sharpness * (least - d));
            sum *= keep;
            sx *= keep;
            sy *= keep;
            sz *= keep;
            least = d;
        }
        const float w = expf(-sharpness * (d == INFINITY ? d : d - least));
        sum += w;
        sx += w * px;
        sy += w * py;
        sz += w * pz;
    }
    shifted[3 * i] = sx / sum;
    shifted[3 * i + 1] = sy / sum;
    shifted[3 * i + 2] = sz / sum;
}
