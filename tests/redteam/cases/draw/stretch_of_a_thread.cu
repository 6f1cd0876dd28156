// One token of each row, drawn with whole weights: the first up to which the weights add to more than the
// share `u` of 2^32 of all. A row without weight draws -1.
__global__ void draw(const unsigned* weight, const unsigned* u, int* token, int rows, int cols) {
    // A block a row: each thread has a stretch of it, and the one in whose stretch the target lies looks for it.
    __shared__ unsigned long long part[8];
    int r = blockIdx.x, t = threadIdx.x, lane = t % 32;
    if (r >= rows) return;
    const unsigned* w = weight + (size_t)r * cols;
    int each = (cols + 255) / 256;
    long long begin = min((long long)t * each, (long long)cols), end = min(begin + each, (long long)cols);
    unsigned long long mine = 0;
    for (long long c = begin; c < end; ++c) mine += w[c];
    unsigned long long upto = mine;
    for (int d = 1; d < 32; d *= 2) {
        unsigned long long left = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += left;
    }
    if (lane == 31) part[t / 32] = upto;
    __syncthreads();
    unsigned long long all = 0, sum = upto - mine;
    for (int k = 0; k < 8; ++k) {
        if (k < t / 32) sum += part[k];
        all += part[k];
    }
    unsigned long long target = __umul64hi(all, (unsigned long long)u[r] << 32);
    if (all == 0 && t == 0) token[r] = -1;
    if (target < sum || target - sum >= mine) return;
    for (long long c = begin; c < end; ++c) {
        sum += w[c];
        if (sum > target) {
            token[r] = (int)c;
            break;
        }
    }
}
