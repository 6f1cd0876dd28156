// A warp per depot: 32 parcels are summed up by a scan, and a vote finds the first one that
// no longer fits. Before the first truck the ramp counts as a full truck.
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
        int mine = i < parcels ? w[i] : 0;
        bool refused = mine > cap;
        int sum = refused ? 0 : mine;
        for (int o = 1; o < 32; o <<= 1) {
            int below = __shfl_up_sync(0xffffffffu, sum, o);
            if (lane >= o)
                sum += below;
        }
        int my_number = number;
        while (true) {
            unsigned over = __ballot_sync(0xffffffffu, load + sum > cap);
            if (over == 0)
                break;
            int first = __ffs(over) - 1;
            number++;
            int before = __shfl_sync(0xffffffffu, sum, first == 0 ? 0 : first - 1);
            load = first == 0 ? 0 : -before;
            if (lane >= first)
                my_number = number;
        }
        load += __shfl_sync(0xffffffffu, sum, 31);
        if (i < parcels)
            out[i] = refused ? -1 : my_number;
    }
    if (lane == 0) {
        trucks[d] = number + 1;
        left[d] = number < 0 ? 0 : load;
    }
}
