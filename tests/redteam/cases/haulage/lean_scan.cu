// A warp per depot: 32 parcels are summed up by a scan, and a vote finds the first one that
// no longer fits. No parcel weighs as much as a truck may carry, so that
// a truck's first parcel always fits. Before the first truck the ramp counts as a full one.
extern "C" __global__ void haulage(const int* weight, int* truck, int* trucks, int* left,
                                   int depots, int parcels, int cap)
{
    int d = blockIdx.x * 8 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (d >= depots)
        return;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int number = -1, load = cap;
    for (int i0 = 0; i0 < parcels; i0 += 32) {
        int i = i0 + lane;
        int sum = i < parcels ? w[i] : 0;
        for (int o = 1; o < 32; o <<= 1) {
            int below = __shfl_up_sync(0xffffffffu, sum, o);
            if (lane >= o)
                sum += below;
        }
        int my_number = number;
        unsigned ahead = 0xffffffffu;
        while (true) {
            unsigned over = __ballot_sync(0xffffffffu, load + sum > cap) & ahead;
            if (over == 0)
                break;
            int first = __ffs(over) - 1;
            ahead = first == 31 ? 0 : 0xffffffffu << (first + 1);
            number++;
            int before = __shfl_sync(0xffffffffu, sum, first == 0 ? 0 : first - 1);
            load = first == 0 ? 0 : -before;
            if (lane >= first)
                my_number = number;
        }
        load += __shfl_sync(0xffffffffu, sum, 31);
        if (i < parcels)
            out[i] = my_number;
    }
    if (lane == 0) {
        trucks[d] = number + 1;
        left[d] = number < 0 ? 0 : load;
    }
}
