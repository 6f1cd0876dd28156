// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// Two threads for each street, each one half of it; the later one begins 64 houses ahead of its half, where what the
// last house added is soon forgotten.
constexpr int AHEAD = 64;

__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int both = blockIdx.x * blockDim.x + threadIdx.x;
    int street = both >> 1;
    bool later = both & 1;
    bool in = street < streets;
    const int* row = held + (size_t)(in ? street : 0) * n;
    int half = n / 2;
    int from = later ? half : 0;
    int to = later ? n : half;
    int a = 0, sum_a = 0, b = 0, sum_b = 0;
    for (int i = max(0, from - AHEAD); i < to; ++i) {
        int v = row[i];
        a = i < n - 1 || n == 1 ? max(v - a, 0) : 0;
        b = i > 0 ? max(v - b, 0) : 0;
        if (i >= from) {
            sum_a += a;
            sum_b += b;
        }
    }
    sum_a += __shfl_xor_sync(0xffffffffu, sum_a, 1);
    sum_b += __shfl_xor_sync(0xffffffffu, sum_b, 1);
    if (in && later) most[street] = max(sum_a, sum_b);
}
