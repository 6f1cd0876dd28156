// Which offers are worth a look: those to which no other is better in one of price and time and no worse in the other.
// Tiles of offers; who is beaten has nothing more to do.
__global__ void pareto(const int* price, const int* time, unsigned char* keep, int n) {
    __shared__ int2 other[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    int p = price[i], t = time[i];
    for (int first = 0; first < n; first += 256) {
        int j = first + threadIdx.x;
        __syncthreads();
        if (j < n) other[threadIdx.x] = make_int2(price[j], time[j]);
        __syncthreads();
        int many = min(256, n - first);
        for (int k = 0; k < many; ++k) {
            int q = other[k].x, u = other[k].y;
            if (q <= p && u <= t && (q < p || u < t)) {
                keep[i] = 0;
                return;
            }
        }
    }
    keep[i] = 1;
}
