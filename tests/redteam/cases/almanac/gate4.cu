// Calendar date and time of day (UTC) of Unix stamps, both as readable integers: 20240229 and 235959.
// The years run from March, so that the leap day is the last of its year.
__device__ __forceinline__ int civil(int day)
{
    int since = day + 719468;                       // days since 1 March of year 0
    int cent = (4 * since + 3) / 146097;
    int rest = since - 146097 * cent / 4;
    int yr = (4 * rest + 3) / 1461;
    int doy = rest - 1461 * yr / 4;
    int mp = (5 * doy + 2) / 153;                   // 0 is March
    int dom = doy - (153 * mp + 2) / 5 + 1;
    int month = mp < 10 ? mp + 3 : mp - 9;
    int year = 100 * cent + yr + (mp >= 10 ? 1 : 0);
    return (year * 100 + month) * 100 + dom;
}

__device__ __forceinline__ int hms(int sec)
{
    return (sec / 3600 * 100 + sec / 60 % 60) * 100 + sec % 60;
}

extern "C" __global__ void almanac(const int* stamp, int* date, int* clock, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int s = i < n ? stamp[i] : 0;
    int day = s / 86400;
    int sec = s - day * 86400;

    // A warp's stamps nearly always fall on one day: then one lane works the calendar out for all.
    int first = __shfl_sync(0xffffffffu, day, 0);
    int early = __shfl_sync(0xffffffffu, day, 10);
    int late = __shfl_sync(0xffffffffu, day, 21);
    int last = __shfl_sync(0xffffffffu, day, 31);
    int packed = 0;
    if (first == early && first == late && first == last) {
        if (lane == 0)
            packed = civil(day);
        packed = __shfl_sync(0xffffffffu, packed, 0);
    } else {
        packed = civil(day);
    }
    if (i < n) {
        date[i] = packed;
        clock[i] = hms(sec);
    }
}
