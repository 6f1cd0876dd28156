// The most that can be taken from the houses of a round street, of which no two neighbours may both be entered.
// Each row of the table is a street; its first and last house are neighbours. What a house holds may be negative.
// One thread for each street, one pass over the line; whether its first house is in the best is carried along, and
// where both ends are, the lesser one is given back.
__global__ void burglar(const int* __restrict__ held, int* __restrict__ most, int streets, int n) {
    int street = blockIdx.x * blockDim.x + threadIdx.x;
    if (street >= streets) return;
    const int* row = held + (size_t)street * n;
    int before = 0, best = 0;
    bool before_first = false, best_first = false, best_last = false;
    for (int i = 0; i < n; ++i) {
        int with = before + row[i];
        bool with_first = i == 0 || before_first;
        before = best;
        before_first = best_first;
        best_last = with > best;
        if (best_last) {
            best = with;
            best_first = with_first;
        }
    }
    int round = best;
    if (n > 1 && best_first && best_last) round -= min(row[0], row[n - 1]);
    // the line without either end may be better than one without the end that was given back
    int inner = 0, inner_before = 0;
    for (int i = 1; i < n - 1; ++i) {
        int with = inner_before + row[i];
        inner_before = inner;
        inner = max(inner, with);
    }
    most[street] = max(round, inner);
}
