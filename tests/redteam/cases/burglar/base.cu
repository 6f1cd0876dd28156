// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// One thread for each street, two passes: without the last house, and without the first one.
__device__ int best_of_line(const int* __restrict__ held, int from, int to) {
    int before = 0;   // the best that ends two houses back
    int best = 0;     // the best that ends at the last house
    for (int i = from; i < to; ++i) {
        int with = before + held[i];
        before = best;
        if (with > best) best = with;
    }
    return best;
}

__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = blockIdx.x * blockDim.x + threadIdx.x;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    if (n == 1) {
        most[street] = row[0] > 0 ? row[0] : 0;
        return;
    }
    int without_last = best_of_line(row, 0, n - 1);
    int without_first = best_of_line(row, 1, n);
    most[street] = without_last > without_first ? without_last : without_first;
}
