// Calendar date and time of day (UTC) of Unix stamps, both as readable integers: 20240229 and 235959.
// The years run from March, so that the leap day is the last of its year.
extern "C" __global__ void almanac(const int* stamp, int* date, int* clock, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int s = stamp[i];
    // ceil(2^48 / 86400): the quotient without the division sequence
    int day = (int)(__umulhi((unsigned)s, 3257812231u) >> 16);
    int sec = s - day * 86400;

    int since = day + 719468;                       // days since 1 March of year 0
    int cent = (4 * since + 3) / 146097;
    int rest = since - 146097 * cent / 4;
    int yr = (4 * rest + 3) / 1461;
    int doy = rest - 1461 * yr / 4;
    int mp = (5 * doy + 2) / 153;                   // 0 is March
    int dom = doy - (153 * mp + 2) / 5 + 1;
    int month = mp < 10 ? mp + 3 : mp - 9;
    int year = 100 * cent + yr + (mp >= 10 ? 1 : 0);

    date[i] = (year * 100 + month) * 100 + dom;
    clock[i] = (sec / 3600 * 100 + sec / 60 % 60) * 100 + sec % 60;
}
