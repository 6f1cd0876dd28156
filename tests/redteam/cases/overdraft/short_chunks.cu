// Accounts that refuse what they cannot pay: last balance, refusals, lowest balance and when it was first reached.
__global__ void overdraft(const int* start, const int* amount, int* last, int* refused, int* lowest, int* when, int rows, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (r >= rows) return;
    int lane = threadIdx.x & 31;
    const int* a = amount + (long long)r * n;
    int b = start[r], low = b, at = -1, no = 0;
    for (int from = 0; from < n; from += 64) {
        int t = from + 2 * lane;
        int u = t < n ? a[t] : 0, v = t + 1 < n ? a[t + 1] : 0;
        short sum = (short)(u + v);
        for (int d = 1; d < 32; d <<= 1) {
            short o = (short)__shfl_up_sync(0xffffffffu, (int)sum, d);
            if (lane >= d) sum = (short)(sum + o);
        }
        int end = b + sum, mid = end - v;
        if (__any_sync(0xffffffffu, end < low || mid < low)) {
            int m = min(64, n - from);
            for (int k = 0; k < m; k++) {
                int next = b + a[from + k];
                if (next < 0) {
                    no++;
                    continue;
                }
                b = next;
                if (b < low) {
                    low = b;
                    at = from + k;
                }
            }
        } else b = __shfl_sync(0xffffffffu, end, 31);
    }
    if (lane == 0) {
        last[r] = b;
        refused[r] = no;
        lowest[r] = low;
        when[r] = at;
    }
}
