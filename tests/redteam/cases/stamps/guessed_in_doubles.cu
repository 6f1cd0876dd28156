// Moments are milliseconds since 1970 began, or before it: the day they are in, counted from there, the minute
// of that day and the day of the week, Monday first. The day is guessed and mended by what is left.
__global__ void stamps(const long long* at, int* day, int* minute, int* weekday, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long t = at[i], d = __double2ll_rd(__ll2double_rn(t) * (1.0 / 86400000.0)), left = t - d * 86400000;
    if (left < 0) {
        left += 86400000;
        --d;
    } else if (left >= 86400000) {
        left -= 86400000;
        ++d;
    }
    day[i] = (int)d;
    minute[i] = (int)((unsigned)left / 60000u);
    weekday[i] = (int)(((d + 3) % 7 + 7) % 7);
}
