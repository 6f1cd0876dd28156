// An as-of join: for each trade the last quote that is not later than it, and what was bid then; -1 and nought where
// there is none. Quotes are in the order of their times, of which several may be the same.
__global__ void asof(const int* quote, const float* bid, const int* trade, int* last, float* price, int m, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int time = trade[i];
    long long low = 0, high = m;
    while (low < high) {
        long long mid = (low + high) / 2;
        if (quote[mid] <= time)
            low = mid + 1;
        else
            high = mid;
    }
    last[i] = (int)(low - 1);
    price[i] = low ? bid[low - 1] : 0.f;
}
