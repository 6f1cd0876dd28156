// Where a word is first in a text, and how often it is there.
__global__ void needle(const unsigned char* text, const unsigned char* word, int* first, int* count,
                       int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ unsigned char part[512];
    int from = blockIdx.x * 256, t = threadIdx.x;
    bool fits = length <= 257;
    if (fits)
        for (int k = t; k < 256 + length - 1; k += 256)
            if (from + k < n) part[k] = text[from + k];
    __syncthreads();
    if (i + length > n) return;
    for (int k = 0; k < length; ++k)
        if ((fits ? part[t + k] : text[i + k]) != word[k]) return;
    atomicMin(first, i);
    atomicAdd(count, 1);
}
