#include <cfloat>

// Two hinge losses of each row of scores: the largest violation (Crammer and Singer) and the sum of all (Weston and
// Watkins). rival: the class with the highest score beside the label, the lowest of equals; -1 where no other class
// has a score above minus infinity. A missing score (NaN) is never a rival and violates nothing.
__global__ void hinge(const float* scores, const int* label, float* loss, float* total, int* rival, int rows, int n,
                      float margin) {
    __shared__ unsigned long long top;
    __shared__ float sums[4];
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float* s = scores + (size_t)row * n;
    const int own = label[row];
    const float mine = s[own];
    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    float sum = 0.0f;
    unsigned long long most = 0;
    for (int j = threadIdx.x; j < n; j += 128) {
        const float v = s[j] + 0.0f;
        if (j == own || !(v > -INFINITY)) continue;
        const unsigned bits = __float_as_uint(v), ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        most = max(most, (unsigned long long)ordered << 32 | (0xffffffffu - (unsigned)j));
        sum += fmaxf((v - mine) + margin, 0.0f);
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
    if (most) atomicMax(&top, most);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        const int where = top ? (int)(0xffffffffu - (unsigned)top) : -1;
        const float best = top ? s[where] : -INFINITY;
        sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        loss[row] = fmaxf((best - mine) + margin, 0.0f);
        total[row] = sum;
        rival[row] = where;
    }
}
