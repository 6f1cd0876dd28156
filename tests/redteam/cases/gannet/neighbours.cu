// Trips of sea birds; one warp per trip. A lane takes every 32nd fix and the one before it; nothing is passed between
// lanes but the fix where the trip began and, at the end, the sums.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

__device__ double arc(float la, float lo, float lb, float lp)
{
    double u = sin(0.5 * RAD * ((double)lb - (double)la));
    double w = sin(0.5 * RAD * ((double)lp - (double)lo));
    double h = u * u + cos(RAD * (double)la) * cos(RAD * (double)lb) * w * w;
    return 2.0 * asin(sqrt(fmin(h, 1.0)));
}

__device__ __forceinline__ bool received(float p, float q) { return fabsf(p) <= 90.0f && fabsf(q) <= 360.0f; }

extern "C" __global__ void gannet(const float* __restrict__ lat, const float* __restrict__ lon,
                                  float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int trip = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (trip >= trips) return;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    int start = fixes;
    for (int first = 0; first < fixes; first += 32) {
        int j = first + lane;
        unsigned there = __ballot_sync(ALL, j < fixes && received(la[min(j, fixes - 1)], lo[min(j, fixes - 1)]));
        if (there) { start = first + __ffs(there) - 1; break; }
    }

    double sum = 0.0, far = 0.0;
    for (int j = start + 1 + lane; j < fixes; j += 32) {
        float p = la[j], q = lo[j], pa = la[j - 1], qa = lo[j - 1];
        if (!received(p, q)) continue;
        if (received(pa, qa)) sum += arc(pa, qa, p, q);
        far = fmax(far, arc(la[start], lo[start], p, q));
    }
    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_xor_sync(ALL, sum, step);
        far = fmax(far, __shfl_xor_sync(ALL, far, step));
    }
    if (lane == 0) {
        length[trip] = (float)(RADIUS * sum);
        farthest[trip] = (float)(RADIUS * far);
    }
}
