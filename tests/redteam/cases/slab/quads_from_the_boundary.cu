// The sum of the columns of each row from `from` on and before `to`. What lies outside of the row is left
// out, and an empty range has the sum 0.
__global__ void slab(const float* x, float* out, int rows, int cols, int from, int to) {
    // A warp a row: single numbers up to the first boundary of 16 bytes, quads, and the rest.
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    int low = max(from, 0), n = min(to, cols) - low;
    float sum = 0.f;
    if (n > 0) {
        const float* p = x + ((size_t)r * cols + low);
        int head = (16 - ((size_t)p & 15)) / 4 & 3;
        int quads = (n - head) / 4;
        if (lane < head) sum = p[lane];
        for (int q = lane; q < quads; q += 32) {
            float4 v = ((const float4*)(p + head))[q];
            sum += (v.x + v.y) + (v.z + v.w);
        }
        int rest = head + quads * 4 + lane;
        if (rest < n) sum += p[rest];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
