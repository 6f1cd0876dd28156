// Where a primer may begin in a genome: the share of G and C among its k letters lies within bounds, and no letter
// comes five times in a row. Places are listed in any order.
__global__ void primers(const unsigned char* letter, int* place, int* count, int n, int k, int low, int high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - k) return;
    int strong = 0, run = 0, longest = 0;
    for (int j = 0; j < k; ++j) {
        unsigned char c = letter[i + j];
        strong += c == 1 || c == 2;
        run = j > 0 && c == letter[i + j - 1] ? run + 1 : 1;
        longest = max(longest, run);
    }
    if (strong * 100 < low * k || strong * 100 > high * k || longest > 4) return;
    place[atomicAdd(count, 1)] = i;
}
