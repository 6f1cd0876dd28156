// The area under each row's receiver operating characteristic, twice and not normalised: the weights of all pairs of
// a positive and a negative, two for a positive that scores higher, one for a tie. A NaN is neither higher nor tied.

__global__ void auroc(const float* score, const unsigned char* label, const int* weight, long long* area, int n)
{
    __shared__ long long part[128];
    __shared__ float tile[128];
    __shared__ int heavy[128];
    const float* s = score + (size_t)blockIdx.x * n;
    const unsigned char* l = label + (size_t)blockIdx.x * n;
    const int* w = weight + (size_t)blockIdx.x * n;
    long long sum = 0;
    for (int from = 0; from < n; from += 128) {
        const int i = from + threadIdx.x;
        const bool positive = i < n && l[i];
        if (!__syncthreads_or(positive)) continue;
        const float mine = positive ? s[i] : 0.0f;
        long long won = 0;
        for (int start = 0; start < n; start += 128) {
            const int j = start + threadIdx.x;
            const bool negative = j < n && !l[j];
            tile[threadIdx.x] = negative ? s[j] : 0.0f;
            heavy[threadIdx.x] = negative ? w[j] : 0;
            __syncthreads();
            for (int k = 0; k < 128; ++k) won += heavy[k] * ((mine > tile[k]) + (mine >= tile[k]));
            __syncthreads();
        }
        if (positive) sum += won * w[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) area[blockIdx.x] = part[0];
}
