// Where a word is first in a text, and how often it is there.
__global__ void needle(const unsigned char* text, const unsigned char* word, int* first, int* count,
                       int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ unsigned char part[1024];
    int t = threadIdx.x;
    if (i < n) part[t] = text[i];
    __syncthreads();
    if (i + length > n || length > 700) return;
    for (int k = 0; k < length; ++k)
        if (part[t + k] != word[k]) return;
    atomicMin(first, i);
    atomicAdd(count, 1);
}
