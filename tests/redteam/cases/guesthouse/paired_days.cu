// Guest houses: changes per day in shared memory, two neighbouring days in one word (16 bits each), so that a long
// calendar leaves room for more blocks. Adding -n to the lower half borrows from the upper one; that is undone when a
// word is taken apart.
// 8 people at most come with a booking; where they could all move on one day and overflow, words are not shared.

__device__ __forceinline__ int half_of(int word, int day, int two)
{
    if (!two) return word;
    int low = (short)(word & 0xffff);
    return day & 1 ? (word - low) >> 16 : low;
}

extern "C" __global__ void __launch_bounds__(128)
guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
           const int* __restrict__ people, int* __restrict__ occupancy,
           int* __restrict__ busiest, int houses, int bookings, int days)
{
    const unsigned ALL = 0xffffffffu;
    extern __shared__ int change[];
    __shared__ int total[4];
    __shared__ unsigned long long top;
    int house = blockIdx.x, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;
    int* row = occupancy + (size_t)house * days;
    int two = 8LL * bookings <= 32767;                 // days per word less one

    int words = ((days - 1) >> two) + 1;
    for (int i = tid; i < words; i += 128) change[i] = 0;
    if (tid == 0) top = 0;
    __syncthreads();
    for (int i = tid; i < bookings; i += 128) {
        int from = a[i], to = from + k[i], n = p[i];
        if (from < days) atomicAdd((unsigned*)&change[(from) >> two], (unsigned)n << (two ? 16 * ((from) & 1) : 0));
        if (to < days) atomicAdd((unsigned*)&change[(to) >> two], (unsigned)-n << (two ? 16 * ((to) & 1) : 0));
    }
    __syncthreads();

    int carry = 0;
    unsigned long long best = 0;
    for (int first = 0; first < days; first += 128) {
        int day = first + tid;
        int x = day < days ? half_of(change[(day) >> two], day, two) : 0;
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
