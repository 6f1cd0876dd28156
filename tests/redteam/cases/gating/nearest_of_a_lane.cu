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

extern "C" __global__ void gating(const float* predicted, const float* whiten, const float* detection, int* nearest,
                                  float* distance, int scans, int tracks, int m, float gate)
{
    const int lane = threadIdx.x & 31;
    const long long t = blockIdx.x * 4LL + (threadIdx.x >> 5);
    if (t >= (long long)scans * tracks) {
        return;
    }
    const float px = predicted[2 * t], py = predicted[2 * t + 1];
    const float a = whiten[3 * t], b = whiten[3 * t + 1], c = whiten[3 * t + 2];
    const float* z = detection + (t / tracks) * m * 2;
    float best = gate;
    int index = -1;
    for (int i = lane; i < m; i += 32) {
        const float d = mahalanobis(z[2 * (size_t)i], z[2 * (size_t)i + 1], px, py, a, b, c);
        if (d < best || (index < 0 && d <= best)) {
            best = d;
            index = i;
        }
    }
    // A lower lane keeps its own one of two equals.
    for (int s = 16; s > 0; s >>= 1) {
        const float d = __shfl_down_sync(0xffffffffu, best, s);
        const int i = __shfl_down_sync(0xffffffffu, index, s);
        if (i >= 0 && (index < 0 || d < best)) {
            best = d;
            index = i;
        }
    }
    if (lane == 0) {
        nearest[t] = index;
        distance[t] = index < 0 ? gate : best;
    }
}
