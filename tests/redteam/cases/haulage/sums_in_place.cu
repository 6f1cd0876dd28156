// A block per depot. The running weights go into truck[] first, which is as long as needed;
// each truck's last parcel is then found there by bisection, and its number written over
// the sums, which are not needed again once the truck has left.
extern "C" __global__ void haulage(const int* weight, int* truck, int* trucks, int* left,
                                   int depots, int parcels, int cap)
{
    __shared__ int part[8];
    int d = blockIdx.x;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int carried = 0;
    for (int i0 = 0; i0 < parcels; i0 += 256) {
        int i = i0 + threadIdx.x;
        int x = i < parcels ? w[i] : 0;
        if (x > cap)
            x = 0;
        for (int o = 1; o < 32; o <<= 1) {
            int below = __shfl_up_sync(0xffffffffu, x, o);
            if (lane >= o)
                x += below;
        }
        if (lane == 31)
            part[warp] = x;
        __syncthreads();
        int ahead = carried, all = 0;
        for (int k = 0; k < 8; k++) {
            if (k < warp)
                ahead += part[k];
            all += part[k];
        }
        if (i < parcels)
            out[i] = ahead + x;
        carried += all;
        __syncthreads();
    }
    int s = 0, gone = 0, number = 0, load = 0;
    while (s < parcels) {
        int lo = s, hi = parcels;
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (out[mid] - gone > cap)
                hi = mid;
            else
                lo = mid + 1;
        }
        load = out[lo - 1] - gone;
        gone += load;
        __syncthreads();
        for (int i = s + threadIdx.x; i < lo; i += 256)
            out[i] = w[i] > cap ? -1 : number;
        s = lo;
        number++;
    }
    if (threadIdx.x == 0) {
        trucks[d] = gone == 0 ? 0 : number;
        left[d] = load;
    }
}
