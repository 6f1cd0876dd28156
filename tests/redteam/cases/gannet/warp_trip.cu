// Trips of sea birds; one warp per trip, 32 fixes at a time. The fix before is the nearest lower lane that has one, or
// else the last fix of the groups before.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

__device__ double arc(float la, float lo, float lb, float lp)
{
    double u = sin(0.5 * RAD * ((double)lb - (double)la));
    double w = sin(0.5 * RAD * ((double)lp - (double)lo));
    double h = u * u + cos(RAD * (double)la) * cos(RAD * (double)lb) * w * w;
    return 2.0 * asin(sqrt(fmin(h, 1.0)));
}

extern "C" __global__ void gannet(const float* __restrict__ lat, const float* __restrict__ lon,
                                  float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int trip = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (trip >= trips) return;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    double sum = 0.0, far = 0.0;
    float la0 = 0.0f, lo0 = 0.0f, la1 = 0.0f, lo1 = 0.0f;
    bool begun = false;
    for (int first = 0; first < fixes; first += 32) {
        int j = first + lane;
        float p = j < fixes ? la[j] : 1000.0f, q = j < fixes ? lo[j] : 1000.0f;
        bool good = fabsf(p) <= 90.0f && fabsf(q) <= 360.0f;
        unsigned there = __ballot_sync(ALL, good);
        if (there == 0) continue;
        if (!begun) {
            int start = __ffs(there) - 1;
            la0 = la1 = __shfl_sync(ALL, p, start);
            lo0 = lo1 = __shfl_sync(ALL, q, start);
            begun = true;                              // the first fix is 0 away from itself
        }
        unsigned below = there & ((1u << lane) - 1u);
        int from = below ? 31 - __clz(below) : lane;
        float pa = __shfl_sync(ALL, p, from), qa = __shfl_sync(ALL, q, from);
        if (!below) { pa = la1; qa = lo1; }
        if (good) {
            sum += arc(pa, qa, p, q);
            far = fmax(far, arc(la0, lo0, p, q));
        }
        int end = 31 - __clz(there);
        la1 = __shfl_sync(ALL, p, end);
        lo1 = __shfl_sync(ALL, q, end);
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
