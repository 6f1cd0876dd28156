// The yield of each bond: the rate a period at which what it pays is worth its price. A bond pays its coupon
// (in hundredths of its face, which is 1) after each of `periods` periods, and its face with the last. The rate is sought between -90 % and 500 %,
// and is the end of that range where the price is beyond it.
// No quote (price not above 0, coupon not in [0, 1000], periods not in [1, 360]): the yield is 0.

extern "C" __global__ void bondyield(const float* price, const float* coupon, const int* periods, float* yield, int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double paid = price[i];
    double each = 0.01 * coupon[i];
    int last = periods[i];
    if (!(paid > 0) || !(each >= 0 && each <= 10) || last < 1 || last > 360) {
        yield[i] = 0;
        return;
    }
    double low = -0.9;
    double high = 5;
    for (int step = 0; step < 60; step++) {
        double rate = 0.5 * (low + high);
        double discount = 1 / (1 + rate);
        double worth = 1;
        for (int t = 0; t < last; t++)
            worth = (worth + (t == 0 ? each : 0)) * discount + (t + 1 < last ? each : 0);
        if (worth > paid)
            low = rate;
        else
            high = rate;
    }
    yield[i] = (float)(0.5 * (low + high));
}
