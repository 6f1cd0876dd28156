// A block per depot, a tile of TILE parcels at a time. The running weights of a tile are kept
// as 16-bit numbers (a parcel weighs less than 500); every thread follows the changes of truck
// by bisection in them and remembers the one its own parcel went on.
#define TILE 192

extern "C" __global__ void __launch_bounds__(TILE) haulage(const int* weight, int* truck, int* trucks, int* left,
                                                           int depots, int parcels, int cap)
{
    __shared__ unsigned short sum[TILE];
    int d = blockIdx.x, t = threadIdx.x;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int number = -1, load = cap;
    for (int i0 = 0; i0 < parcels; i0 += TILE) {
        int i = i0 + t;
        int x = i < parcels ? w[i] : 0;
        bool refused = x > cap;
        sum[t] = (unsigned short)(refused ? 0 : x);
        __syncthreads();
        for (int o = 1; o < TILE; o <<= 1) {
            int below = t >= o ? sum[t - o] : 0;
            __syncthreads();
            sum[t] = (unsigned short)(sum[t] + below);
            __syncthreads();
        }
        int s = 0, gone = 0, mine = number;
        while (true) {
            int lo = s, hi = TILE;
            while (lo < hi) {
                int mid = (lo + hi) >> 1;
                if (load + (int)sum[mid] - gone > cap)
                    hi = mid;
                else
                    lo = mid + 1;
            }
            if (t >= s && t < lo)
                mine = number;
            if (lo == TILE)
                break;
            number++;
            load = 0;
            gone = lo > 0 ? sum[lo - 1] : 0;
            s = lo;
        }
        load += sum[TILE - 1] - gone;
        if (i < parcels)
            out[i] = refused ? -1 : mine;
        __syncthreads();
    }
    if (t == 0) {
        trucks[d] = number + 1;
        left[d] = number < 0 ? 0 : load;
    }
}
