// Seats by highest averages: each goes to the party with the most votes by one more than the seats it has, the first of
// those where several have as many. A warp has an election; a lane keeps its parties, and their seats, in registers.
__global__ void hondt(const int* votes, int* won, int rows, int parties, int seats) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    int lane = threadIdx.x % 32;
    const int* v = votes + r * parties;
    int own[4], has[4] = {};
#pragma unroll
    for (int q = 0; q < 4; ++q) own[q] = lane + 32 * q < parties ? v[lane + 32 * q] : 0;
    for (int s = 0; s < seats; ++s) {
        int best = -1, most = 0, by = 1;
#pragma unroll
        for (int q = 0; q < 4; ++q)
            if (lane + 32 * q < parties && (best < 0 || (long long)own[q] * by > (long long)most * (has[q] + 1)))
                best = lane + 32 * q, most = own[q], by = has[q] + 1;
        for (int k = 16; k; k /= 2) {
            int other = __shfl_xor_sync(0xffffffffu, best, k), more = __shfl_xor_sync(0xffffffffu, most, k),
                than = __shfl_xor_sync(0xffffffffu, by, k);
            long long theirs = (long long)more * by, ours = (long long)most * than;
            if (other >= 0 && (best < 0 || theirs > ours || (theirs == ours && other < best)))
                best = other, most = more, by = than;
        }
#pragma unroll
        for (int q = 0; q < 4; ++q) has[q] += best == lane + 32 * q;
    }
#pragma unroll
    for (int q = 0; q < 4; ++q)
        if (lane + 32 * q < parties) won[r * parties + lane + 32 * q] = has[q];
}
