// Which offers are worth a look: those to which no other is better in one of price and time and no worse in the other.
// Tiles of offers; a block is done when all of its own are beaten.
__global__ void pareto(const int* price, const int* time, unsigned char* keep, int n) {
    __shared__ int2 other[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    int p = i < n ? price[i] : 0, t = i < n ? time[i] : 0;
    bool beaten = i >= n;
    for (int first = 0; first < n; first += 256) {
        int j = first + threadIdx.x;
        if (j < n) other[threadIdx.x] = make_int2(price[j], time[j]);
        __syncthreads();
        int many = min(256, n - first);
        for (int k = 0; k < many && !beaten; ++k) {
            int q = other[k].x, u = other[k].y;
            beaten = q <= p && u <= t && (q < p || u < t);
        }
        if (__syncthreads_and(beaten)) break;
    }
    if (i < n) keep[i] = !beaten;
}
