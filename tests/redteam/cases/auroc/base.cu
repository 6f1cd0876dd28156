// The area under each row's receiver operating characteristic, twice and not normalised: the weights of all pairs of
// a positive and a negative, two for a positive that scores higher, one for a tie. A NaN is neither higher nor tied.

__global__ void auroc(const float* score, const unsigned char* label, const int* weight, long long* area, int n)
{
    __shared__ long long part[128];
    const float* s = score + (size_t)blockIdx.x * n;
    const unsigned char* l = label + (size_t)blockIdx.x * n;
    const int* w = weight + (size_t)blockIdx.x * n;
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        if (!l[i]) continue;
        const float mine = s[i];
        long long won = 0;
        for (int j = 0; j < n; ++j) {
            if (l[j]) continue;
            if (mine > s[j])
                won += 2 * w[j];
            else if (mine == s[j])
                won += w[j];
        }
        sum += won * w[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) area[blockIdx.x] = part[0];
}
