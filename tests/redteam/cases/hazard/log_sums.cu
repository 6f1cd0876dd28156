// Survival as exp of a sum of logarithms; the sum is a scan over the block instead of a chain of products.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ int leaving[256], dead[256], tail[256];
    __shared__ double logs[256];
    int cohort = blockIdx.x, k = threadIdx.x;
    leaving[k] = dead[k] = 0;
    __syncthreads();
    for (int i = k; i < m; i += 256) {
        size_t at = (size_t)cohort * m + i;
        int w = week[at];
        if (w < 0 || w >= WEEKS) continue;
        atomicAdd(&leaving[w], 1);
        if (died[at]) atomicAdd(&dead[w], 1);
    }
    __syncthreads();
    tail[k] = leaving[k];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = k + d < 256 ? tail[k + d] : 0;
        __syncthreads();
        tail[k] += v;
        __syncthreads();
    }
    int left = tail[k];
    logs[k] = left > 0 ? log((double)(left - dead[k]) / (double)left) : 0.0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        double v = k >= d ? logs[k - d] : 0.0;
        __syncthreads();
        logs[k] += v;
        __syncthreads();
    }
    if (k < WEEKS) {
        risk[(size_t)cohort * WEEKS + k] = left;
        survival[(size_t)cohort * WEEKS + k] = (float)exp(logs[k]);
    }
}
