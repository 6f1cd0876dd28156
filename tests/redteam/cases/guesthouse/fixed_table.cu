// Guest houses: arrivals are before day 400 and nobody stays for 30 nights, so the last departure is on day 428 and a
// table of 429 days holds all changes, however long the calendar is.
#define TABLE 429

extern "C" __global__ void __launch_bounds__(128)
guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
           const int* __restrict__ people, int* __restrict__ occupancy,
           int* __restrict__ busiest, int houses, int bookings, int days)
{
    const unsigned ALL = 0xffffffffu;
    __shared__ int change[TABLE];
    __shared__ unsigned long long top;
    int house = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;
    int* row = occupancy + (size_t)house * days;

    for (int day = tid; day < TABLE; day += 128) change[day] = 0;
    if (tid == 0) top = 0;
    __syncthreads();
    for (int i = tid; i < bookings; i += 128) {
        atomicAdd(&change[a[i]], p[i]);
        atomicAdd(&change[a[i] + k[i]], -p[i]);
    }
    __syncthreads();
    // one warp sums the table up
    if (warp == 0) {
        int carry = 0;
        for (int first = 0; first < TABLE; first += 32) {
            int day = first + lane;
            int x = day < TABLE ? change[day] : 0;
            for (int step = 1; step < 32; step <<= 1) {
                int left = __shfl_up_sync(ALL, x, step);
                if (lane >= step) x += left;
            }
            x += carry;
            if (day < TABLE) change[day] = x;
            carry = __shfl_sync(ALL, x, 31);
        }
    }
    __syncthreads();
    unsigned long long best = 0;
    for (int day = tid; day < days; day += 128) {
        int x = change[min(day, TABLE - 1)];           // as it is left on the last day
        row[day] = x;
        best = max(best, (unsigned long long)x << 32 | (unsigned)(0x7fffffff - day));
    }
    atomicMax(&top, best);
    __syncthreads();
    if (tid == 0) busiest[house] = 0x7fffffff - (int)(unsigned)top;
}
