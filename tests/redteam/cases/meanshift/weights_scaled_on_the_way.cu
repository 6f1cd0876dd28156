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
    __shared__ float tile[3 * 128];
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool live = i < queries;
    const float qx = live ? query[3 * i] : 0.0f, qy = live ? query[3 * i + 1] : 0.0f, qz = live ? query[3 * i + 2] : 0.0f;
    float least = INFINITY, sum = 0.0f, sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (int from = 0; from < points; from += 128) {
        const int count = min(128, points - from);
        __syncthreads();
        for (int k = threadIdx.x; k < 3 * count; k += 128) {
            tile[k] = point[3 * (size_t)from + k];
        }
        __syncthreads();
        for (int j = 0; j < count; j++) {
            const float px = tile[3 * j], py = tile[3 * j + 1], pz = tile[3 * j + 2];
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
    }
    if (live) {
        shifted[3 * i] = sx / sum;
        shifted[3 * i + 1] = sy / sum;
        shifted[3 * i + 2] = sz / sum;
    }
}
