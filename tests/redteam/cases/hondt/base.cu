// Seats by highest averages: each goes to the party with the most votes by one more than the seats it has, the first of
// those where several have as many. A thread has an election.
__global__ void hondt(const int* votes, int* won, int rows, int parties, int seats) {
    size_t r = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* v = votes + r * parties;
    int* has = won + r * parties;
    for (int p = 0; p < parties; ++p) has[p] = 0;
    for (int s = 0; s < seats; ++s) {
        int best = 0;
        for (int p = 1; p < parties; ++p)
            if ((long long)v[p] * (has[best] + 1) > (long long)v[best] * (has[p] + 1)) best = p;
        ++has[best];
    }
}
