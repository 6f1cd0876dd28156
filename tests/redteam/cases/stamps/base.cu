// Moments are milliseconds since 1970 began, or before it: the day they are in, counted from there, the minute
// of that day and the day of the week, Monday first.
__global__ void stamps(const long long* at, int* day, int* minute, int* weekday, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long t = at[i], d = t / 86400000;
    if (t % 86400000 < 0) --d;
    day[i] = (int)d;
    minute[i] = (int)((t - d * 86400000) / 60000);
    weekday[i] = (int)(((d + 3) % 7 + 7) % 7);
}
