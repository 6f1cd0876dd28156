// The Durbin-Watson statistic of the residuals in each row, and how often they change between negative and not
// negative. Rows without any power, or with a gap (NaN), have the statistic zero.
#define THREADS 128

__global__ void durbin(const float* __restrict__ e, float* __restrict__ statistic, int* __restrict__ flips, int rows,
                       int n)
{
    __shared__ float steps[THREADS];
    __shared__ float power[THREADS];
    __shared__ int changes[THREADS];
    const int row = blockIdx.x;
    if (row >= rows)
        return;
    const float* mine = e + (long long)row * n;
    float d2 = 0.0f, s2 = 0.0f;
    int c = 0;
    // a stretch for each thread: what was read last is still at hand
    const int length = (n + THREADS - 1) / THREADS;
    const int from = min(n, (int)threadIdx.x * length);
    const int to = min(n, from + length);
    float before = from < to ? mine[max(0, from - 1)] : 0.0f;
    for (int i = from; i < to; ++i) {
        const float here = mine[i];
        s2 += here * here;
        if (i > 0) {
            d2 += (here - before) * (here - before);
            c += (here < 0.0f) != (before < 0.0f);
        }
        before = here;
    }
    steps[threadIdx.x] = d2;
    power[threadIdx.x] = s2;
    changes[threadIdx.x] = c;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            steps[threadIdx.x] += steps[threadIdx.x + half];
            power[threadIdx.x] += power[threadIdx.x + half];
            changes[threadIdx.x] += changes[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        statistic[row] = power[0] > 0.0f ? steps[0] / power[0] : 0.0f;
        flips[row] = changes[0];
    }
}
