// Guest houses: a booking changes the number of people on two days only. The house's row of the result first holds the
// changes, added up with atomics, and is then summed along the days where it stands.
extern "C" __global__ void __launch_bounds__(128)
guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
           const int* __restrict__ people, int* occupancy,
           int* __restrict__ busiest, int houses, int bookings, int days)
{
    const unsigned ALL = 0xffffffffu;
    __shared__ int total[4];
    __shared__ unsigned long long top;
    int house = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;
    int* row = occupancy + (size_t)house * days;

    for (int day = tid; day < days; day += 128) row[day] = 0;
    if (tid == 0) top = 0;
    __syncthreads();
    for (int i = tid; i < bookings; i += 128) {
        int from = a[i], to = from + k[i];
        if (from < days) atomicAdd(&row[from], p[i]);
        if (to < days) atomicAdd(&row[to], -p[i]);
    }
    __syncthreads();

    int carry = 0;
    unsigned long long best = 0;
    for (int first = 0; first < days; first += 128) {
        int day = first + tid;
        int x = day < days ? __ldcg(&row[day]) : 0;
        for (int step = 1; step < 32; step <<= 1) {
            int left = __shfl_up_sync(ALL, x, step);
            if (lane >= step) x += left;
        }
        if (lane == 31) total[warp] = x;
        __syncthreads();
        x += carry;
        for (int w = 0; w < 4; w++) {
            if (w < warp) x += total[w];
            carry += total[w];
        }
        if (day < days) {
            row[day] = x;
            best = max(best, (unsigned long long)x << 32 | (unsigned)(0x7fffffff - day));
        }
        __syncthreads();
    }
    atomicMax(&top, best);
    __syncthreads();
    if (tid == 0) busiest[house] = 0x7fffffff - (int)(unsigned)top;
}
