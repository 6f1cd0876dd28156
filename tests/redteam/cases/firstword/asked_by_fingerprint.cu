// For each word the first word with the same letters in the same places.
// A block makes fingerprints of 256 words at a time; letters are compared where these are equal.
__device__ unsigned fingerprint(const unsigned char* word, int len) {
    unsigned h = 2166136261u;
    for (int c = 0; c < len; ++c) h = (h ^ word[c]) * 16777619u;
    return h;
}

__global__ void firstword(const unsigned char* letter, int* first, int n, int len) {
    __shared__ unsigned tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, found = i;
    const unsigned char* mine = letter + (size_t)i * len;
    unsigned own = i < n ? fingerprint(mine, len) : 0u;
    int end = min(n, (int)(blockIdx.x + 1) * 256);
    for (int from = 0; from < end; from += 256) {
        __syncthreads();
        if (from + t < end) tile[t] = fingerprint(letter + (size_t)(from + t) * len, len);
        __syncthreads();
        if (i >= n || found < i) continue;
        int many = min(256, i - from);
        for (int k = 0; k < many && found == i; ++k) {
            if (tile[k] != own) continue;
            const unsigned char* other = letter + (size_t)(from + k) * len;
            int c = 0;
            while (c < len && other[c] == mine[c]) ++c;
            if (c == len) found = from + k;
        }
    }
    if (i < n) first[i] = found;
}
