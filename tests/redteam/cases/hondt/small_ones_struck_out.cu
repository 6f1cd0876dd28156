// Seats by highest averages: each goes to the party with the most votes by one more than the seats it has, the first of
// those where several have as many. A warp has an election, a lane each 32nd party; who has less than the largest has
// for its last seat is struck out, and not looked at again.
__global__ void hondt(const int* votes, int* won, int rows, int parties, int seats) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    int lane = threadIdx.x % 32;
    const int* v = votes + r * parties;
    int* has = won + r * parties;
    int largest = 0;
    for (long long p = lane; p < parties; p += 32) {
        has[p] = 0;
        largest = max(largest, v[p]);
    }
    for (int k = 16; k; k /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, k));
    for (long long p = lane; p < parties; p += 32)
        if ((long long)v[p] * seats < largest) ((int*)v)[p] = -1;
    for (int s = 0; s < seats; ++s) {
        // A lane without a party has none that wins.
        int best = -1, most = 0, by = 1;
        for (long long p = lane; p < parties; p += 32) {
            int own = *(volatile const int*)(v + p);
            if (own < 0) continue;
            int next = has[p] + 1;
            if (best < 0 || (long long)own * by > (long long)most * next) best = p, most = own, by = next;
        }
        for (int k = 16; k; k /= 2) {
            int other = __shfl_xor_sync(0xffffffffu, best, k), more = __shfl_xor_sync(0xffffffffu, most, k),
                than = __shfl_xor_sync(0xffffffffu, by, k);
            long long theirs = (long long)more * by, ours = (long long)most * than;
            if (other >= 0 && (best < 0 || theirs > ours || (theirs == ours && other < best)))
                best = other, most = more, by = than;
        }
        if (best % 32 == lane) ++has[best];
    }
}
