// Block a row: every thread adds its limbs, carries go to the next limb through shared memory; a second look settles
// the limbs that overflowed by a carry, until nothing was handed on.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    __shared__ unsigned handed[129];
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    long long at = (long long)row * limbs;
    unsigned carry = 0;
    for (int base = 0; base < limbs; base += 128) {
        int i = base + t;
        unsigned a = i < limbs ? left[at + i] : 0u, b = i < limbs ? right[at + i] : 0u;
        unsigned s = a + b, out = s < a;
        if (t == 0) handed[0] = carry;
        handed[t + 1] = out;
        __syncthreads();
        unsigned in = handed[t];
        s += in;
        unsigned again = in && s == 0;               // handed on once more
        __syncthreads();
        handed[t + 1] = again;
        if (t == 0) handed[0] = 0;
        __syncthreads();
        if (handed[t]) {
            s += 1;
            if (s == 0) again = 1;
        }
        out |= again;
        if (i < limbs) total[at + i] = s;
        __syncthreads();
        int top = limbs - base > 128 ? 127 : limbs - base - 1;
        if (t == top) handed[128] = out;
        __syncthreads();
        carry = handed[128];
        __syncthreads();
    }
    if (t == 0) over[row] = (int)carry;
}
