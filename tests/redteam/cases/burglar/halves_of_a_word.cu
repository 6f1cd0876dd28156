// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// One thread for each street; both passes in the halves of a word, a house adds what it holds beyond what the one
// before it added.
__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = blockIdx.x * blockDim.x + threadIdx.x;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    if (n == 1) {
        most[street] = max(row[0], 0);
        return;
    }
    unsigned added = 0, sums = 0;
    int low = 0, high = 0;
    for (int i = 0; i < n; ++i) {
        unsigned v = (unsigned)max(row[i], 0);
        unsigned both = (i < n - 1 ? v : 0u) | (i > 0 ? v << 16 : 0u);
        added = __vsubus2(both, added);
        sums = __vadd2(sums, added);
        if (i % 128 == 128 - 1) {
            low += sums & 0xffffu;
            high += sums >> 16;
            sums = 0;
        }
    }
    low += sums & 0xffffu;
    high += sums >> 16;
    most[street] = max(low, high);
}
