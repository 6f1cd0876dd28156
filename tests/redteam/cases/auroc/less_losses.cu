// The area under each row's receiver operating characteristic, twice and not normalised: the weights of all pairs of
// a positive and a negative, two for a positive that scores higher, one for a tie. A NaN is neither higher nor tied.

__global__ void auroc(const float* score, const unsigned char* label, const int* weight, long long* area, int n)
{
    __shared__ long long part[128];
    __shared__ unsigned long long all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    const float* s = score + (size_t)blockIdx.x * n;
    const unsigned char* l = label + (size_t)blockIdx.x * n;
    const int* w = weight + (size_t)blockIdx.x * n;
    unsigned long long some = 0;
    for (int j = threadIdx.x; j < n; j += 128)
        if (!l[j] && s[j] == s[j]) some += 2 * w[j];
    atomicAdd(&all, some);
    __syncthreads();
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        const float mine = s[i];
        if (!l[i] || mine != mine) continue;
        long long lost = 0;
        for (int j = 0; j < n; ++j) {
            if (l[j]) continue;
            if (mine < s[j])
                lost += 2 * w[j];
            else if (mine == s[j])
                lost += w[j];
        }
        sum += ((long long)all - lost) * w[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) area[blockIdx.x] = part[0];
}
