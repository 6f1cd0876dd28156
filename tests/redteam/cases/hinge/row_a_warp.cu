#include <cfloat>

// Two hinge losses of each row of scores: the largest violation (Crammer and Singer) and the sum of all (Weston and
// Watkins). rival: the class with the highest score beside the label, the lowest of equals; -1 where no other class
// has a score above minus infinity. A missing score (NaN) is never a rival and violates nothing.
__global__ void hinge(const float* scores, const int* label, float* loss, float* total, int* rival, int rows, int n,
                      float margin) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* s = scores + (size_t)row * n;
    const int own = label[row];
    const float mine = s[own];
    float best = -INFINITY, sum = 0.0f;
    int where = -1;
    for (int j = lane; j < n; j += 32) {
        if (j == own) continue;
        const float v = s[j];
        if (v > best) {
            best = v;
            where = j;
        }
        sum += fmaxf((v - mine) + margin, 0.0f);
    }
    for (int half = 16; half > 0; half /= 2) {
        const float b = __shfl_xor_sync(0xffffffffu, best, half);
        const int i = __shfl_xor_sync(0xffffffffu, where, half);
        if (b > best || (b == best && (unsigned)i < (unsigned)where)) {
            best = b;
            where = i;
        }
        sum += __shfl_xor_sync(0xffffffffu, sum, half);
    }
    if (lane == 0) {
        loss[row] = fmaxf((best - mine) + margin, 0.0f);
        total[row] = sum;
        rival[row] = where;
    }
}
