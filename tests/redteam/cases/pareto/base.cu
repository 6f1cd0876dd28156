// Which offers are worth a look: those to which no other is better in one of price and time and no worse in the other.
__global__ void pareto(const int* price, const int* time, unsigned char* keep, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = price[i], t = time[i];
    unsigned char stays = 1;
    for (int j = 0; j < n; ++j) {
        int q = price[j], u = time[j];
        if (q <= p && u <= t && (q < p || u < t)) stays = 0;
    }
    keep[i] = stays;
}
