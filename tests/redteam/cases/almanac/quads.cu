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
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int quads = n / 4;
    if (q < quads) {
        int4 s = reinterpret_cast<const int4*>(stamp)[q];
        int4 day = make_int4(s.x / 86400, s.y / 86400, s.z / 86400, s.w / 86400);
        reinterpret_cast<int4*>(date)[q] = make_int4(civil(day.x), civil(day.y), civil(day.z), civil(day.w));
        reinterpret_cast<int4*>(clock)[q] = make_int4(hms(s.x - day.x * 86400), hms(s.y - day.y * 86400),
                                                      hms(s.z - day.z * 86400), hms(s.w - day.w * 86400));
    } else if (q == quads) {
        // the up to three stamps left over
        for (int i = quads * 4; i < n; i++) {
            int day = stamp[i] / 86400;
            date[i] = civil(day);
            clock[i] = hms(stamp[i] - day * 86400);
        }
    }
}
