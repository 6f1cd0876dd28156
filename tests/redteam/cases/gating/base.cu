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
    __shared__ float far[128];
    __shared__ int which[128];
    const long long t = blockIdx.x;
    const float px = predicted[2 * t], py = predicted[2 * t + 1];
    const float a = whiten[3 * t], b = whiten[3 * t + 1], c = whiten[3 * t + 2];
    const float* z = detection + (t / tracks) * m * 2;
    float best = gate;
    int index = -1;
    for (int i = threadIdx.x; i < m; i += 128) {
        const float d = mahalanobis(z[2 * (size_t)i], z[2 * (size_t)i + 1], px, py, a, b, c);
        if (d < best || (index < 0 && d <= best)) {
            best = d;
            index = i;
        }
    }
    far[threadIdx.x] = best;
    which[threadIdx.x] = index;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            const float d = far[threadIdx.x + s], e = far[threadIdx.x];
            const int i = which[threadIdx.x + s], j = which[threadIdx.x];
            if (i >= 0 && (j < 0 || d < e || (d == e && i < j))) {
                far[threadIdx.x] = d;
                which[threadIdx.x] = i;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        nearest[t] = which[0];
        distance[t] = which[0] < 0 ? gate : far[0];
    }
}
