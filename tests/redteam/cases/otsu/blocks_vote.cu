// The first of the thresholds that part a histogram into two groups with the largest variance between them:
// a block a histogram, a piece of it a thread; the highest is found by its bits, then the first that is as high.
__global__ void otsu(const int* hist, int* out, int rows, int bins) {
    __shared__ long long count[128], moment[128];
    __shared__ unsigned long long highest;
    __shared__ int first;
    int r = blockIdx.x, t = threadIdx.x;
    const int* h = hist + (size_t)r * bins;
    int each = (bins + 127) / 128, begin = min(t * each, bins), end = min(begin + each, bins);
    long long below = 0, sum = 0;
    for (int k = begin; k < end; ++k) below += h[k], sum += (long long)k * h[k];
    count[t] = below, moment[t] = sum;
    if (t == 0) highest = 0ull, first = bins;
    __syncthreads();
    long long all = 0, total = 0;
    below = sum = 0;
    for (int k = 0; k < 128; ++k) {
        if (k == t) below = all, sum = total;
        all += count[k], total += moment[k];
    }
    double best = -1.0;
    int at = 0;
    for (int k = begin; k < end; ++k) {
        below += h[k];
        sum += (long long)k * h[k];
        if (below == 0 || below == all) continue;
        double d = (double)(sum * all - total * below);
        double between = d * d / ((double)below * (double)(all - below));
        if (between > best) best = between, at = k;
    }
    // Bits of numbers that are not negative are in their order.
    if (best >= 0.0) atomicMax(&highest, (unsigned long long)__double_as_longlong(best + 0.0));
    __syncthreads();
    if (best >= 0.0 && (unsigned long long)__double_as_longlong(best + 0.0) == highest) atomicMin(&first, at);
    __syncthreads();
    if (t == 0) out[r] = first == bins ? 0 : first;
}
