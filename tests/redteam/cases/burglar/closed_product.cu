// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// A warp for each street: each lane's stretch is a matrix over "the house before was entered", and so is the street.
constexpr int NEVER = -(1 << 29);

__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    if (n == 1) {
        if (lane == 0) most[street] = max(row[0], 0);
        return;
    }
    int stretch = (n + 31) / 32;
    int from = min(n, lane * stretch);
    int to = min(n, from + stretch);
    int m00 = 0, m01 = NEVER, m10 = NEVER, m11 = 0;
    for (int i = from; i < to; ++i) {
        int v = row[i];
        int left0 = max(m00, m01);
        int left1 = max(m10, m11);
        m01 = max(m00 + v, NEVER);
        m11 = max(m10 + v, NEVER);
        m00 = left0;
        m10 = left1;
    }
    for (int step = 1; step < 32; step *= 2) {
        int b00 = __shfl_down_sync(0xffffffffu, m00, step);
        int b01 = __shfl_down_sync(0xffffffffu, m01, step);
        int b10 = __shfl_down_sync(0xffffffffu, m10, step);
        int b11 = __shfl_down_sync(0xffffffffu, m11, step);
        if (lane % (2 * step) == 0) {
            int c00 = max(m00 + b00, m01 + b10);
            int c01 = max(m00 + b01, m01 + b11);
            int c10 = max(m10 + b00, m11 + b10);
            int c11 = max(m10 + b01, m11 + b11);
            m00 = max(c00, NEVER);
            m01 = max(c01, NEVER);
            m10 = max(c10, NEVER);
            m11 = max(c11, NEVER);
        }
    }
    if (lane == 0) most[street] = max(m00, m11);
}
