// |a - b| and the sign of a - b for long numbers in base 10^9.
// The comparison takes two limbs a step, joined in a double; a number of odd length starts with its top limb alone.

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    int order = 0;
    int l = limbs - 1;
    if (limbs & 1) {
        order = (x[l] > y[l]) - (x[l] < y[l]);
        --l;
    }
    for (; order == 0 && l > 0; l -= 2) {
        double kx = fma((double)x[l], 1e9, (double)x[l - 1]);
        double ky = fma((double)y[l], 1e9, (double)y[l - 1]);
        order = (kx > ky) - (kx < ky);
    }

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    int borrow = 0;
    for (int k = 0; k < limbs; ++k) {
        int d = big[k] - small[k] - borrow;
        borrow = (unsigned)d >> 31;
        out[k] = d + (-borrow & 1000000000);
    }
    sign[i] = order;
}
