// How far a match of two genomes goes on to the right of where it was found: its best score, and after how many letters
// that is reached first. A letter that differs costs; who falls more than `drop` below his best ends.
__global__ void xdrop(const unsigned char* query, const unsigned char* genome, const int* in_query,
                      const int* in_genome, int* best, int* length, int hits, int letters, int all, int match,
                      int cost, int drop) {
    // A warp a hit: 32 letters at once, their scores by a scan, and the best before each by another one.
    int h = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (h >= hits) return;
    const unsigned whole = 0xffffffffu;
    int i = in_query[h] % letters, j = in_genome[h] % all;
    int score = 0, most = 0, reached = 0, end = min(letters - i, all - j);
    for (int from = 0; from < end; from += 32) {
        int k = from + lane;
        int sum = k < end ? (query[i + k] == genome[j + k] ? match : -cost) : 0;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(whole, sum, d);
            if (lane >= d) sum += other;
        }
        sum += score;
        int high = max(most, sum);
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(whole, high, d);
            if (lane >= d) high = max(high, other);
        }
        // Behind its own best nobody drops, unless `drop` is below nothing: then it is asked who rose.
        int before = __shfl_up_sync(whole, high, 1);
        if (lane == 0) before = most;
        unsigned ends = __ballot_sync(whole, k < end && sum <= before && before - sum > drop);
        int some = min(end - from, 32);
        if (ends) some = __ffs(ends);
        int now = __shfl_sync(whole, high, some - 1);
        if (now > most) {
            unsigned first = __ballot_sync(whole, lane < some && sum == now);
            most = now;
            reached = from + __ffs(first);
        }
        if (ends) break;
        score = __shfl_sync(whole, sum, 31);
    }
    if (lane == 0) {
        best[h] = most;
        length[h] = reached;
    }
}
