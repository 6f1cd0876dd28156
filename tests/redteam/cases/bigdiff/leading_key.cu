// |a - b| and the sign of a - b for long numbers in base 10^9.
// The two leading limbs make a key in double; only where the keys agree are the limbs compared one by one.

__device__ double key(const int* x, int limbs) {
    double top = (double)x[limbs - 1];
    return limbs > 1 ? fma(top, 1e9, (double)x[limbs - 2]) : top;
}

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    double kx = key(x, limbs), ky = key(y, limbs);
    int order = (kx > ky) - (kx < ky);
    for (int l = limbs - 1; order == 0 && l >= 0; --l) {
        order = (x[l] > y[l]) - (x[l] < y[l]);
    }

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    int borrow = 0;
    for (int l = 0; l < limbs; ++l) {
        int d = big[l] - small[l] - borrow;
        borrow = (unsigned)d >> 31;
        out[l] = d + (-borrow & 1000000000);
    }
    sign[i] = order;
}
