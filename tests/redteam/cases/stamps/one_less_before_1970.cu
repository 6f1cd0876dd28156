// Moments are milliseconds since 1970 began, or before it: the day they are in, counted from there, the minute
// of that day and the day of the week, Monday first. Before 1970 a division ends one day late.
__global__ void stamps(const long long* at, int* day, int* minute, int* weekday, int n) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) {
        long long t = at[i], d = t / 86400000 - (t < 0);
        unsigned left = (unsigned)t - (unsigned)d * 86400000u;
        day[i] = (int)d;
        minute[i] = (int)(left / 60000u);
        int w = (int)((d + 3) % 7);
        weekday[i] = w < 0 ? w + 7 : w;
    }
}
