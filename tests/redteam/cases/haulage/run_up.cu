// A warp per depot, a stretch of parcels per lane. Where a truck is changed soon no longer
// depends on where the loading began: a lane starts 1024 parcels ahead of its stretch, and
// the load has settled by the time it arrives there.
#define RUN_UP 1024

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
    int load = cap, assumed = cap, opened = 0;
    for (int i = max(0, from - RUN_UP); i < to; i++) {
        if (i == from) {
            assumed = load;
            opened = 0;
        }
        int x = w[i];
        if (x > cap)
            continue;
        if (load + x > cap) {
            opened++;
            load = 0;
        }
        load += x;
    }
    if (from == to) {
        assumed = load;
        opened = 0;
    }
    __syncwarp();
    int number = opened;
    for (int o = 1; o < 32; o <<= 1) {
        int below = __shfl_up_sync(0xffffffffu, number, o);
        if (lane >= o)
            number += below;
    }
    int total = __shfl_sync(0xffffffffu, number, 31);
    if (from < to && to == parcels) {
        trucks[d] = total;
        left[d] = total == 0 ? 0 : load;
    }
    number -= opened + 1;
    load = assumed;
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
