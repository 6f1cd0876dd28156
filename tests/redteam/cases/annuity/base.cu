// Every loan month by month: interest in parts per million, rounded half up to whole cents,
// then the payment; the last payment is what is left.
__global__ void annuity(const int* balance, const int* rate, const int* pay,
                        int* months, long long* interest, long long* left, int n, int horizon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long b = balance[i];
    long long r = rate[i], p = pay[i];
    long long total = 0;
    int m = 0;
    while (b > 0 && m < horizon) {
        long long in = (b * r + 500000) / 1000000;
        total += in;
        b = b + in - p;
        if (b < 0) b = 0;
        m++;
    }
    months[i] = m;
    interest[i] = total;
    left[i] = b;
}
