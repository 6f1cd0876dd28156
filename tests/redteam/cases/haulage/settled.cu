// A warp per depot, a stretch of parcels per lane. Each lane first assumes that its stretch
// begins with a full truck at the ramp; then loads are handed on from lane to lane, and a
// lane that was handed something else than it assumed loads again, until nothing changes.
static __device__ __forceinline__ int pass(const int* w, int from, int to, int cap, int load, int& opened)
{
    opened = 0;
    for (int i = from; i < to; i++) {
        int x = w[i];
        if (x > cap)
            continue;
        if (load + x > cap) {
            opened++;
            load = 0;
        }
        load += x;
    }
    return load;
}

extern "C" __global__ void haulage(const int* weight, int* truck, int* trucks, int* left,
                                   int depots, int parcels, int cap)
{
    int d = blockIdx.x * 4 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (d >= depots)
        return;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int each = (parcels + 31) / 32;
    int from = min(parcels, lane * each), to = min(parcels, from + each);
    int assumed = cap, opened;
    int end = pass(w, from, to, cap, assumed, opened);
    while (true) {
        int handed = __shfl_up_sync(0xffffffffu, end, 1);
        bool wrong = lane > 0 && handed != assumed;
        if (__ballot_sync(0xffffffffu, wrong) == 0)
            break;
        if (wrong) {
            assumed = handed;
            end = pass(w, from, to, cap, assumed, opened);
        }
        __syncwarp();
    }
    int number = opened;
    for (int o = 1; o < 32; o <<= 1) {
        int below = __shfl_up_sync(0xffffffffu, number, o);
        if (lane >= o)
            number += below;
    }
    if (lane == 31) {
        trucks[d] = number;
        left[d] = number == 0 ? 0 : end;
    }
    number -= opened + 1;
    int load = assumed;
    for (int i = from; i < to; i++) {
        int x = w[i];
        if (x > cap) {
            out[i] = -1;
            continue;
        }
        if (load + x > cap) {
            number++;
            load = 0;
        }
        load += x;
        out[i] = number;
    }
}
