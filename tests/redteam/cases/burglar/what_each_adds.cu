// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// One thread for each street, one pass: a house adds what it holds beyond what the house before it added.
__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = blockIdx.x * blockDim.x + threadIdx.x;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    if (n == 1) {
        most[street] = max(row[0], 0);
        return;
    }
    int a = max(row[0], 0);
    int sum_a = a;
    int b = 0, sum_b = 0;
    for (int i = 1; i < n - 1; ++i) {
        int v = row[i];
        a = max(v - a, 0);
        b = max(v - b, 0);
        sum_a += a;
        sum_b += b;
    }
    sum_b += max(row[n - 1] - b, 0);
    most[street] = max(sum_a, sum_b);
}
