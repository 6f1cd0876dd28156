// An as-of join: for each trade the last quote that is not later than it, and what was bid then; -1 and nought where
// there is none. Quotes are in the order of their times, of which several may be the same. Blocks stay, and keep up to
// 1024 quotes at even distances, between which they search on.
__global__ void asof(const int* quote, const float* bid, const int* trade, int* last, float* price, int m, int n) {
    __shared__ int some[1024];
    long long apart = ((long long)m + 1023) / 1024;
    int many = apart ? (int)((m + apart - 1) / apart) : 0;
    for (int s = threadIdx.x; s < many; s += 256) some[s] = quote[s * apart];
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        int time = trade[i], a = 0, b = many;
        while (a < b) {
            int mid = (a + b) / 2;
            if (some[mid] <= time)
                a = mid + 1;
            else
                b = mid;
        }
        // a of them are not later; the answer is from the last of these on, and before the next.
        long long low = a ? (a - 1) * apart + 1 : 0, high = a ? min(a * apart, (long long)m) : 0;
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
}
