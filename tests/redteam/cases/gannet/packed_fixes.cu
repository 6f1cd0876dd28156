// Trips of sea birds; one block of 128 threads per trip. The fixes that were received are first moved together in shared
// memory, in their order; then every thread takes every 128th leg.
#define RADIUS 6371008.8
#define RAD 0.017453292519943295

__device__ double arc(float la, float lo, float lb, float lp)
{
    double u = sin(0.5 * RAD * ((double)lb - (double)la));
    double w = sin(0.5 * RAD * ((double)lp - (double)lo));
    double h = u * u + cos(RAD * (double)la) * cos(RAD * (double)lb) * w * w;
    return 2.0 * asin(sqrt(fmin(h, 1.0)));
}

extern "C" __global__ void __launch_bounds__(128)
gannet(const float* __restrict__ lat, const float* __restrict__ lon,
       float* __restrict__ length, float* __restrict__ farthest, int trips, int fixes)
{
    const unsigned ALL = 0xffffffffu;
    extern __shared__ float2 fix[];
    __shared__ int in_warp[4];
    __shared__ double sums[4], fars[4];
    int trip = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const float* la = lat + (size_t)trip * fixes;
    const float* lo = lon + (size_t)trip * fixes;

    int many = 0;
    for (int first = 0; first < fixes; first += 128) {
        int j = first + tid;
        float p = j < fixes ? la[j] : 1000.0f, q = j < fixes ? lo[j] : 1000.0f;
        bool good = fabsf(p) <= 90.0f && fabsf(q) <= 360.0f;
        unsigned there = __ballot_sync(ALL, good);
        if (lane == 0) in_warp[warp] = __popc(there);
        __syncthreads();
        int at = many;
        for (int w = 0; w < 4; w++) {
            if (w < warp) at += in_warp[w];
            many += in_warp[w];
        }
        if (good) fix[at + __popc(there & ((1u << lane) - 1u))] = make_float2(p, q);
        __syncthreads();
    }

    double sum = 0.0, far = 0.0;
    for (int k = tid + 1; k < many; k += 128) {
        float2 to = fix[k], from = fix[k - 1], nest = fix[0];
        sum += arc(from.x, from.y, to.x, to.y);
        far = fmax(far, arc(nest.x, nest.y, to.x, to.y));
    }
    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_xor_sync(ALL, sum, step);
        far = fmax(far, __shfl_xor_sync(ALL, far, step));
    }
    if (lane == 0) { sums[warp] = sum; fars[warp] = far; }
    __syncthreads();
    if (tid == 0) {
        length[trip] = (float)(RADIUS * ((sums[0] + sums[1]) + (sums[2] + sums[3])));
        farthest[trip] = (float)(RADIUS * fmax(fmax(fars[0], fars[1]), fmax(fars[2], fars[3])));
    }
}
