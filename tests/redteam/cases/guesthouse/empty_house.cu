// Guest houses: changes per day in dynamic shared memory, summed by one thread per house while the others wait; the
// busiest day falls out of the same loop.
extern "C" __global__ void __launch_bounds__(128)
guesthouse(const int* __restrict__ arrive, const int* __restrict__ nights,
           const int* __restrict__ people, int* __restrict__ occupancy,
           int* __restrict__ busiest, int houses, int bookings, int days)
{
    extern __shared__ int change[];
    int house = blockIdx.x, tid = threadIdx.x;
    const int* a = arrive + (size_t)house * bookings;
    const int* k = nights + (size_t)house * bookings;
    const int* p = people + (size_t)house * bookings;
    int* row = occupancy + (size_t)house * days;

    for (int day = tid; day < days; day += 128) change[day] = 0;
    __syncthreads();
    for (int i = tid; i < bookings; i += 128) {
        int from = a[i], to = from + k[i];
        if (from < days) atomicAdd(&change[from], p[i]);
        if (to < days) atomicAdd(&change[to], -p[i]);
    }
    __syncthreads();
    if (tid == 0) {
        int now = 0, most = 0, when = -1;
        for (int day = 0; day < days; day++) {
            now += change[day];
            change[day] = now;
            if (now > most) { most = now; when = day; }
        }
        busiest[house] = when;
    }
    __syncthreads();
    for (int day = tid; day < days; day += 128) row[day] = change[day];
}
