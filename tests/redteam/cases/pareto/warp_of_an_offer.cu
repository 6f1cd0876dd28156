// Which offers are worth a look: those to which no other is better in one of price and time and no worse in the other.
// A warp an offer, until one of its lanes has found a better one.
__global__ void pareto(const int* price, const int* time, unsigned char* keep, int n) {
    int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        int p = price[i], t = time[i];
        bool beaten = false;
        for (int first = 0; first < n && !beaten; first += 32) {
            int j = first + lane;
            bool better = false;
            if (j < n) {
                int q = price[j], u = time[j];
                better = q <= p && u <= t && (q < p || u < t);
            }
            beaten = __any_sync(0xffffffffu, better);
        }
        if (lane == 0) keep[i] = !beaten;
    }
}
