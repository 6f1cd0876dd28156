// Guest houses: bookings are fetched in tiles of 128 into shared memory, and every thread has four days in registers.
// One unsigned comparison tells whether a day lies within a booking.
extern "C" __global__ void __launch_bounds__(128)
guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
           const int* __restrict__ people, int* __restrict__ occupancy,
           int* __restrict__ busiest, int houses, int bookings, int days)
{
    __shared__ int from[128], many[128], who[128];
    __shared__ unsigned long long top;
    int house = blockIdx.x, tid = threadIdx.x;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;

    if (tid == 0) top = 0;
    unsigned long long best = 0;
    for (int first = 0; first < days; first += 512) {
        int sum[4] = { 0, 0, 0, 0 };
        for (int i = 0; i < bookings; i += 128) {
            __syncthreads();
            bool there = i + tid < bookings;
            from[tid] = there ? a[i + tid] : 0;
            many[tid] = there ? k[i + tid] : 0;
            who[tid] = there ? p[i + tid] : 0;
            __syncthreads();
#pragma unroll 4
            for (int b = 0; b < 128; b++) {
                int x = first + tid - from[b], n = who[b];
                unsigned m = (unsigned)many[b];
                sum[0] += (unsigned)x < m ? n : 0;
                sum[1] += (unsigned)(x + 128) < m ? n : 0;
                sum[2] += (unsigned)(x + 256) < m ? n : 0;
                sum[3] += (unsigned)(x + 384) < m ? n : 0;
            }
        }
        for (int c = 0; c < 4; c++) {
            int day = first + tid + 128 * c;
            if (day < days) {
                occupancy[(size_t)house * days + day] = sum[c];
                best = max(best, (unsigned long long)sum[c] << 32 | (unsigned)(0x7fffffff - day));
            }
        }
    }
    __syncthreads();
    atomicMax(&top, best);
    __syncthreads();
    if (tid == 0) busiest[house] = 0x7fffffff - (int)(unsigned)top;
}
