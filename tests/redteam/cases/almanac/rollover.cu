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

// Stamps of a log lie close together: each thread takes a run of 128 and steps its date on
// from the one before where it can.
extern "C" __global__ void almanac(const int* stamp, int* date, int* clock, int n)
{
    const int run = 128;
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    if (from >= n)
        return;
    int to = min(from + run, n);

    int known = -2, year = 0, month = 0, dom = 0, february = 0;
    for (int i = from; i < to; i++) {
        int s = stamp[i];
        int day = s / 86400;
        if (day == known + 1) {
            int days = month == 2 ? february : 30 + ((month + (month >> 3)) & 1);
            if (++dom > days) {
                dom = 1;
                if (++month > 12) {
                    month = 1;
                    year++;
                }
            }
        } else if (day != known) {
            int packed = civil(day);
            year = packed / 10000;
            month = packed / 100 % 100;
            dom = packed % 100;
            february = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        }
        known = day;
        date[i] = (year * 100 + month) * 100 + dom;
        clock[i] = hms(s - day * 86400);
    }
}
