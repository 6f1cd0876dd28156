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
    auto take = [&](float v, int j) {
        if (j == own) return;
        if (v > best || (v == best && j < where)) {
            best = v;
            where = j;
        }
        sum += fmaxf((v - mine) + margin, 0.0f);
    };
    // the scores before the first that begins sixteen bytes, fours of them, and the rest
    const int before = min(n, (int)((4 - ((size_t)row * n) % 4) % 4)), fours = (n - before) / 4;
    if (threadIdx.x < before) take(s[threadIdx.x], threadIdx.x);
    for (int f = threadIdx.x; f < fours; f += 128) {
        const int j = before + 4 * f;
        const float4 v = *reinterpret_cast<const float4*>(s + j);
        take(v.x, j);
        take(v.y, j + 1);
        take(v.z, j + 2);
        take(v.w, j + 3);
    }
    const int rest = before + 4 * fours + threadIdx.x;
    if (rest < n) take(s[rest], rest);
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
