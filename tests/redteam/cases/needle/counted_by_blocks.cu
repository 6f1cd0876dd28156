__global__ void needle(const unsigned char* text, const unsigned char* word, int* first, int* count,
                       int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool here = i + length <= n;
    for (int k = 0; here && k < length; ++k) here = text[i + k] == word[k];
    unsigned all = __ballot_sync(0xffffffffu, here);
    int found = __syncthreads_count(here);
    if (all && threadIdx.x % 32 == __ffs(all) - 1) atomicMin(first, i);
    if (threadIdx.x == 0 && found) atomicAdd(count, found);
}
