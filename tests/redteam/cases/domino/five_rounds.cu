// A warp per row, 32 dominoes at a time: a running maximum of the reaches of those fallen so far tells who falls next,
// five rounds for 32 dominoes, as the front doubles.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const unsigned char* h = height + (size_t)row * m;
    const unsigned char* s = shove + (size_t)row * m;
    unsigned char* out = down + (size_t)row * m;
    int carry = -1, fallen = 0;
    for (int base = 0; base < m; base += 32) {
        int i = base + lane;
        int mine = i < m ? i + (int)h[i] : -1;
        bool falls = i < m && (s[i] >= 250 || i <= carry);
        int reach = -1;
        for (int round = 0; round < 5; ++round) {
            reach = falls ? mine : -1;
            for (int d = 1; d < 32; d *= 2) {
                int v = __shfl_up_sync(0xffffffffu, reach, d);
                if (lane >= d) reach = max(reach, v);
            }
            falls = falls || (i < m && i <= reach);
        }
        fallen += __popc(__ballot_sync(0xffffffffu, falls));
        carry = max(carry, __reduce_max_sync(0xffffffffu, falls ? mine : -1));
        if (i < m) out[i] = falls;
    }
    if (lane == 0) count[row] = fallen;
}
