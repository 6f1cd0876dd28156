// Guest houses: each house has a list of bookings (day of arrival, nights, people). occupancy[house][day] is how many
// people stay the night of that day, for days 0 .. days-1; bookings may reach beyond. busiest[house] is the day with
// the most people, the earliest of equal ones.
extern "C" __global__ void guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
                                      const int* __restrict__ people, int* __restrict__ occupancy,
                                      int* __restrict__ busiest, int houses, int bookings, int days)
{
    __shared__ unsigned long long top;
    int house = blockIdx.x;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;

    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    for (int day = threadIdx.x; day < days; day += blockDim.x) {
        int sum = 0;
        for (int i = 0; i < bookings; i++)
            if (a[i] <= day && day < a[i] + k[i]) sum += p[i];
        occupancy[(size_t)house * days + day] = sum;
        atomicMax(&top, (unsigned long long)sum << 32 | (unsigned)(0x7fffffff - day));
    }
    __syncthreads();
    if (threadIdx.x == 0) busiest[house] = 0x7fffffff - (int)(unsigned)top;
}
