// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (r >= rows) return;
    int lane = threadIdx.x & 31;
    const int* a = amount + (long long)r * n;
    int b = start[r], low = b, at = -1, no = 0;
    for (int from = 0; from < n; from += 32) {
        int v = from + lane < n ? a[from + lane] : 0;
        int done = 0;
        for (int round = 0; round < 28 && done < 32; round++) {
            int sum = lane >= done ? v : 0;
            for (int d = 1; d < 32; d <<= 1) {
                int o = __shfl_up_sync(0xffffffffu, sum, d);
                if (lane >= d) sum += o;
            }
            unsigned bad = __ballot_sync(0xffffffffu, lane >= done && b + sum < 0);
            int end = bad ? __ffs(bad) - 1 : 32;
            int here = lane >= done && lane < end ? b + sum : 0x7fffffff;
            int least = __reduce_min_sync(0xffffffffu, here);
            if (least < low) {
                low = least;
                at = from + __ffs(__ballot_sync(0xffffffffu, here == least)) - 1;
            }
            if (end > 0) {
                int last1 = __shfl_sync(0xffffffffu, sum, end - 1);
                b += last1;
            }
            if (end < 32) no++;
            done = end + 1;
        }
    }
    if (lane == 0) {
        last[r] = b;
        refused[r] = no;
        lowest[r] = low;
        when[r] = at;
    }
}
