// The area under each row's receiver operating characteristic, twice and not normalised: the weights of all pairs of
// a positive and a negative, two for a positive that scores higher, one for a tie. A NaN is neither higher nor tied.

__global__ void auroc(const float* score, const unsigned char* label, const int* weight, long long* area, int n)
{
    __shared__ long long part[128];
    __shared__ float rival[512];
    __shared__ int heavy[512];
    __shared__ int rivals;
    const float* s = score + (size_t)blockIdx.x * n;
    const unsigned char* l = label + (size_t)blockIdx.x * n;
    const int* w = weight + (size_t)blockIdx.x * n;
    long long sum = 0;
    for (int start = 0; start < n; start += 512) {
        if (threadIdx.x == 0) rivals = 0;
        __syncthreads();
        for (int j = start + threadIdx.x; j < min(n, start + 512); j += 128)
            if (!l[j]) {
                const int slot = atomicAdd(&rivals, 1);
                rival[slot] = s[j];
                heavy[slot] = w[j];
            }
        __syncthreads();
        const int many = rivals;
        if (many)
            for (int i = threadIdx.x; i < n; i += 128) {
                if (!l[i]) continue;
                const float mine = s[i];
                int won = 0;
                for (int k = 0; k < many; ++k) {
                    if (mine > rival[k])
                        won += 2 * heavy[k];
                    else if (mine == rival[k])
                        won += heavy[k];
                }
                sum += (long long)won * w[i];
            }
        __syncthreads();
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) area[blockIdx.x] = part[0];
}
