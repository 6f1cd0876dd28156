// How many edits make one word of the other, for many pairs of words: by diagonals, three of which
// are held.
__global__ void edits(const unsigned char* a, const unsigned char* b, int* apart, int la, int lb) {
    extern __shared__ int held[];
    int *older = held, *old = held + la + 1, *now = held + 2 * (la + 1);
    const unsigned char *s = a + (size_t)blockIdx.x * la, *t = b + (size_t)blockIdx.x * lb;
    for (int d = 0; d <= la + lb; ++d) {
        for (int i = max(0, d - lb) + threadIdx.x; i <= min(d, la); i += blockDim.x) {
            int j = d - i, v = d;
            if (i > 0 && j > 0)
                v = min(min(old[i - 1], old[i]) + 1, older[i - 1] + (s[i - 1] != t[j - 1]));
            now[i] = v;
        }
        __syncwarp();
        int* free = older;
        older = old, old = now, now = free;
    }
    if (threadIdx.x == 0) apart[blockIdx.x] = old[la];
}
