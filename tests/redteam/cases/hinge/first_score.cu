#include <cfloat>

// Two hinge losses of each row of scores: the largest violation (Crammer and Singer) and the sum of all (Weston and
// Watkins). rival: the class with the highest score beside the label, the lowest of equals; -1 where no other class
// has a score above minus infinity. A missing score (NaN) is never a rival and violates nothing.
__global__ void hinge(const float* scores, const int* label, float* loss, float* total, int* rival, int rows, int n,
                      float margin) {
    __shared__ float bests[128], sums[128];
    __shared__ int wheres[128];
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float* s = scores + (size_t)row * n;
    const int own = label[row];
    const float mine = s[own];
    int j = threadIdx.x;
    if (j == own) j += 128;
    float best = j < n ? s[j] : -INFINITY, sum = 0.0f;
    int where = best > -INFINITY ? j : -1;
    if (j < n) sum = fmaxf((best - mine) + margin, 0.0f);
    for (j += 128; j < n; j += 128) {
        if (j == own) continue;
        const float v = s[j];
        if (v > best) {
            best = v;
            where = j;
        }
        sum += fmaxf((v - mine) + margin, 0.0f);
    }
    bests[threadIdx.x] = best;
    wheres[threadIdx.x] = where;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float b = bests[threadIdx.x + half];
            const int i = wheres[threadIdx.x + half];
            const float a = bests[threadIdx.x];
            if (b > a || (b == a && i >= 0 && i < wheres[threadIdx.x])) {
                bests[threadIdx.x] = b;
                wheres[threadIdx.x] = i;
            }
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        loss[row] = fmaxf((bests[0] - mine) + margin, 0.0f);
        total[row] = sums[0];
        rival[row] = wheres[0];
    }
}
