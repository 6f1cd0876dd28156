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
    float best = -INFINITY, sum = 0.0f;
    int where = -1;
    for (int j = threadIdx.x; j < n; j += 128) {
        if (j == own) continue;
        const float v = s[j];
        if (v > best) {
            best = v;
            where = j;
        }
    }
    bests[threadIdx.x] = best;
    wheres[threadIdx.x] = where;
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
        }
        __syncthreads();
    }
    const float worst = (bests[0] - mine) + margin;
    if (worst <= 0.0f) {
        if (threadIdx.x == 0) {
            loss[row] = 0.0f;
            total[row] = 0.0f;
            rival[row] = wheres[0];
        }
        return;
    }
    for (int j = threadIdx.x; j < n; j += 128) {
        if (j != own) sum += fmaxf((s[j] - mine) + margin, 0.0f);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        loss[row] = fmaxf((bests[0] - mine) + margin, 0.0f);
        total[row] = sums[0];
        rival[row] = wheres[0];
    }
}
