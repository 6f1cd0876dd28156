// |a - b| and the sign of a - b for long numbers in base 10^9.
// One pass subtracts without looking which number is larger; a borrow that leaves the top means that
// the result stands in ten's complement: every limb is taken from 999999999 and one is added at the end.

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    int borrow = 0, any = 0;
    for (int l = 0; l < limbs; ++l) {
        int d = x[l] - y[l] + borrow;
        borrow = d >> 31;
        d += borrow & 1000000000;
        any |= d;
        out[l] = d;
    }
    int order = any != 0;
    if (borrow) {
        order = -1;
        for (int l = 0; l < limbs; ++l) {
            out[l] = 999999999 - out[l];
        }
        out[0] += 1;
    }
    sign[i] = order;
}
