// How alike fingerprints are: the bits that both have among those that one of them has; all alike where neither has
// any.
__global__ void tanimoto(const unsigned* a, const unsigned* b, float* out, int n, int m, int words) {
    __shared__ unsigned left[8][33], right[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * 32 + tx, i = blockIdx.y * 8 + ty;
    int both = 0, either = 0;
    for (int begin = 0; begin < words; begin += 32) {
        int w = begin + tx;
        left[ty][tx] = i < n && w < words ? a[(size_t)i * words + w] : 0u;
        for (int k = ty; k < 32; k += 8) {
            int row = blockIdx.x * 32 + k;
            right[k][tx] = row < m && w < words ? b[(size_t)row * words + w] : 0u;
        }
        __syncthreads();
        for (int k = 0; k < min(32, words - begin); ++k) {
            both += __popc(left[ty][k] & right[tx][k]);
            either += __popc(left[ty][k] | right[tx][k]);
        }
        __syncthreads();
    }
    if (i < n && j < m) out[(size_t)i * m + j] = either ? __fdiv_rn((float)both, (float)either) : 1.f;
}
