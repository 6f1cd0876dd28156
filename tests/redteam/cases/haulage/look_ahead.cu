// A warp per depot and a truck per step: two scans of 32 parcels look ahead from the first
// parcel of a truck to the first that no longer fits.
extern "C" __global__ void haulage(const int* weight, int* truck, int* trucks, int* left,
                                   int depots, int parcels, int cap)
{
    int d = blockIdx.x * 8 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (d >= depots)
        return;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int number = 0, load = 0, s = 0;
    while (s < parcels) {
        int i = s + lane, j = i + 32;
        int x = i < parcels ? w[i] : 0, y = j < parcels ? w[j] : 0;
        bool no_x = x > cap, no_y = y > cap;
        x = no_x ? 0 : x;
        y = no_y ? 0 : y;
        for (int o = 1; o < 32; o <<= 1) {
            int a = __shfl_up_sync(0xffffffffu, x, o), b = __shfl_up_sync(0xffffffffu, y, o);
            if (lane >= o) {
                x += a;
                y += b;
            }
        }
        y += __shfl_sync(0xffffffffu, x, 31);
        int fit = __popc(__ballot_sync(0xffffffffu, x <= cap)) + __popc(__ballot_sync(0xffffffffu, y <= cap));
        int from = fit <= 32 ? x : y;
        load = __shfl_sync(0xffffffffu, from, (fit - 1) & 31);
        if (lane < fit && i < parcels)
            out[i] = no_x ? -1 : number;
        if (lane + 32 < fit && j < parcels)
            out[j] = no_y ? -1 : number;
        if (load > 0)
            number++;
        s += fit;
    }
    if (lane == 0) {
        trucks[d] = number;
        left[d] = load;
    }
}
