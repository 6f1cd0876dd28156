// Moments are milliseconds since 1970 began, or before it: the day they are in, counted from there, the minute
// of that day and the day of the week, Monday first. A double holds such moments exactly, and hours of
// them closely.
__global__ void stamps(const long long* at, int* day, int* minute, int* weekday, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long t = at[i];
    double hours = __ll2double_rn(t) * (1.0 / 3600000.0);
    long long d = __double2ll_rd(hours * (1.0 / 24.0));
    day[i] = (int)d;
    minute[i] = (int)((unsigned)(t - d * 86400000) / 60000u);
    weekday[i] = (int)(((d + 3) % 7 + 7) % 7);
}
