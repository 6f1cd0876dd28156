// |a - b| and the sign of a - b for long numbers in base 10^9.
// Row i holds the limbs of number i, the least significant limb first; every limb is in 0 .. 999999999.

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    int order = 0;
    for (int l = limbs - 1; l >= 0; --l) {
        if (x[l] != y[l]) {
            order = x[l] > y[l] ? 1 : -1;
            break;
        }
    }

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    int borrow = 0;
    for (int l = 0; l < limbs; ++l) {
        int d = big[l] - small[l] - borrow;
        borrow = d < 0;
        if (borrow) d += 1000000000;
        out[l] = d;
    }
    sign[i] = order;
}
