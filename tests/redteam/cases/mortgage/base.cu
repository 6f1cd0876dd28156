// Mortgage pool: each loan runs for a number of months. Money is in cents, the rate in basis points a year; a month's
// interest is balance * rate / 120000, rounded half to even. What is paid beyond the interest lowers the balance.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void clear(int64_t* month, int months)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < months) month[m] = 0;
}

__device__ int64_t interest_of(int64_t balance, int rate)
{
    int64_t num = balance * rate;
    int64_t q = num / 120000;
    int64_t r = num - q * 120000;
    if (r > 60000 || (r == 60000 && (q & 1))) ++q;
    return q;
}

__global__ void __launch_bounds__(256) schedule(const int* principal, const int* rate, const int* repay,
                                                int64_t* paid, int64_t* left, int64_t* month, int n, int months)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    int64_t b = principal[i], total = 0;
    int bp = rate[i], pay = repay[i];
    for (int m = 0; m < months; ++m) {
        int64_t interest = interest_of(b, bp);
        total += interest;
        if (interest) atomicAdd((unsigned long long*)(month + m), (unsigned long long)interest);
        b -= pay;
        if (b < 0) b = 0;
    }
    paid[i] = total;
    left[i] = b;
}

// running total over the months
__global__ void cumulate(const int64_t* month, int64_t* upto, int months)
{
    if (threadIdx.x) return;
    int64_t s = 0;
    for (int m = 0; m < months; ++m) {
        s += month[m];
        upto[m] = s;
    }
}

extern "C" void mortgage(const int* principal, const int* rate, const int* repay, int64_t* paid, int64_t* left,
                         int64_t* month, int64_t* upto, int n, int months)
{
    clear<<<(months + 255) / 256, 256>>>(month, months);
    schedule<<<(n + 255) / 256, 256>>>(principal, rate, repay, paid, left, month, n, months);
    cumulate<<<1, 256>>>(month, upto, months);
}
