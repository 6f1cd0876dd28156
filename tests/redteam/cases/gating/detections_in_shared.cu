// Association of a tracker: for every track the nearest detection of its scan, by the squared Mahalanobis distance, within
// a gate. Of equally near detections the first counts. A track without one gets -1 and the gate itself as its distance.

// (a, b, c) is the lower triangle that whitens the innovation; every rounding is spelled out, so that equal detections are
// equally far.
__device__ __forceinline__ float mahalanobis(float zx, float zy, float px, float py, float a, float b, float c)
{
    const float dx = zx - px, dy = zy - py;
    const float u = __fmul_rn(a, dx);
    const float v = fmaf(b, dx, __fmul_rn(c, dy));
    return fmaf(u, u, __fmul_rn(v, v));
}

// Distances are never negative, so their bits are in their order; the index below them settles ties.
__device__ __forceinline__ unsigned long long key_of(float d, int i)
{
    return (unsigned long long)__float_as_uint(d) << 32 | (unsigned)i;
}

extern "C" __global__ void gating(const float* predicted, const float* whiten, const float* detection, int* nearest,
                                  float* distance, int scans, int tracks, int m, float gate)
{
    extern __shared__ float part[];
    constexpr int CHUNK = 8192;
    const int lane = threadIdx.x & 31;
    const int groups = (tracks + 7) / 8;
    const long long scan = blockIdx.x / groups;
    const int own = (blockIdx.x % groups) * 8 + (threadIdx.x >> 5);
    const bool live = own < tracks;
    const long long t = scan * tracks + (live ? own : 0);
    const float px = predicted[2 * t], py = predicted[2 * t + 1];
    const float a = whiten[3 * t], b = whiten[3 * t + 1], c = whiten[3 * t + 2];
    const float* z = detection + scan * m * 2;
    unsigned long long key = ~0ULL;
    // Eight tracks share the detections of their scan.
    for (int from = 0; from < m; from += CHUNK) {
        const int count = min(CHUNK, m - from);
        __syncthreads();
        for (int i = threadIdx.x; i < 2 * count; i += 256) {
            part[i] = z[2 * (size_t)from + i];
        }
        __syncthreads();
        for (int i = lane; i < count; i += 32) {
            const float2 q = reinterpret_cast<const float2*>(part)[i];
            const float d = mahalanobis(q.x, q.y, px, py, a, b, c);
            if (d <= gate) {
                key = min(key, key_of(d, from + i));
            }
        }
    }
    for (int s = 16; s > 0; s >>= 1) {
        key = min(key, __shfl_xor_sync(0xffffffffu, key, s));
    }
    if (lane == 0 && live) {
        nearest[t] = key == ~0ULL ? -1 : (int)(unsigned)key;
        distance[t] = key == ~0ULL ? gate : __uint_as_float((unsigned)(key >> 32));
    }
}
