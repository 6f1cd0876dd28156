// What a letter of a sequence stands for in the hash of a word.
__device__ unsigned seed(unsigned char letter) {
    switch (letter & 3) {
        case 0: return 0x3c8bfbb3u;
        case 1: return 0x9ad1e05fu;
        case 2: return 0x51f36c9au;
        default: return 0xe70294d6u;
    }
}

__device__ unsigned turned(unsigned v, int by) { return __funnelshift_l(v, v, by); }

// The places of a sequence at which a word of k letters begins whose hash is small, in any order; and how many. A
// block collects its own and asks for room once.
__global__ void anchors(const unsigned char* letter, int* place, int* count, int n, int k, unsigned limit) {
    __shared__ int own[256];
    __shared__ int many, first;
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t == 0) many = 0;
    __syncthreads();
    if (i <= n - k) {
        unsigned hash = 0;
        for (int j = 0; j < k; ++j) hash = turned(hash, 1) ^ seed(letter[i + j]);
        if (hash < limit) own[atomicAdd(&many, 1)] = i;
    }
    __syncthreads();
    if (t == 0 && many) {
        first = __ldcg(count);
        atomicCAS(count, first, first + many);
    }
    __syncthreads();
    if (t < many) place[first + t] = own[t];
}
