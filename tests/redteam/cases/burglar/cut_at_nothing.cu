// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// A warp for each street: a house that holds nothing is never entered, and what lies between two such is a street of
// its own. The lanes take these stretches; one that goes round the end is taken by the lane that it begins in.
__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    int sum = 0;
    int cuts = 0;
    for (int start = 0; start < n; start += 32) {
        int i = start + lane;
        bool cut = i < n && row[i] <= 0;
        cuts |= __any_sync(0xffffffffu, cut);
        if (cut) {
            int added = 0;
            int at = i + 1 == n ? 0 : i + 1;
            while (row[at] > 0) {
                added = max(row[at] - added, 0);
                sum += added;
                at = at + 1 == n ? 0 : at + 1;
            }
        }
    }
    if (cuts) {
        sum = __reduce_add_sync(0xffffffffu, sum);
    } else if (lane < 2) {
        int added = 0;
        for (int i = lane; i < n - 1 + lane; ++i) {
            if (i >= n) break;
            added = max(row[i] - added, 0);
            sum += added;
        }
        if (n == 1) sum = row[0];
    }
    int other = __shfl_down_sync(0xffffffffu, sum, 1);
    if (lane == 0) most[street] = cuts ? sum : max(sum, other);
}
