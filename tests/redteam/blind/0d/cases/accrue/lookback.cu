// A thread adds a chunk of 64 limbs (128 threads a row); the carry into a chunk is found by adding the limbs below it,
// from the nearest one that decides.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    int row = blockIdx.x;
    if (row >= rows) return;
    const unsigned* a = left + (long long)row * limbs;
    const unsigned* b = right + (long long)row * limbs;
    unsigned* s = total + (long long)row * limbs;
    for (int first = threadIdx.x * 64; first < limbs; first += blockDim.x * 64) {
        unsigned carry = 0;
        for (int back = 1; back <= 16; ++back) {
            int i = first - back;
            if (i < 0) break;
            unsigned t = a[i] + b[i];
            if (t != 0xffffffffu) {                  // this limb does not hand a carry through
                carry = t < a[i];
                break;
            }
        }
        int end = first + 64 < limbs ? first + 64 : limbs;
        for (int i = first; i < end; ++i) {
            unsigned long long t = (unsigned long long)a[i] + b[i] + carry;
            s[i] = (unsigned)t;
            carry = (unsigned)(t >> 32);
        }
        if (end == limbs) over[row] = (int)carry;
    }
}
