// One round of label propagation, one warp a node: lanes hold the neighbours, __match_any_sync counts the votes.

extern "C" __global__ void labelvote(const int* slot, const int* label, int* next, int* changed, int n, int deg)
{
    const int lane = threadIdx.x & 31;
    const long long i = (long long)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (i >= n) return;
    const int* mine = slot + (size_t)i * deg;
    int best = label[i];
    if (deg <= 32) {
        const int u = lane < deg ? mine[lane] : -1;
        const bool there = u >= 0 && u < n;
        const int l = there ? label[u] : 0;
        const long long tag = there ? (long long)l : (1ll << 40);
        const unsigned same = __match_any_sync(0xffffffffu, tag);
        const int votes = there ? __popc(same) : 0;
        const int most = __reduce_max_sync(0xffffffffu, votes);
        const int least = __reduce_min_sync(0xffffffffu, there && votes == most ? l : 0x7fffffff);
        if (most > 0) best = least;
    } else if (lane == 0) {
        int most = 0;
        for (int a = 0; a < deg; ++a) {
            const int u = mine[a];
            if (u < 0 || u >= n) continue;
            const int candidate = label[u];
            int votes = 0;
            for (int c = 0; c < deg; ++c) {
                const int v = mine[c];
                if (v >= 0 && v < n) votes += label[v] == candidate;
            }
            if (votes > most || (votes == most && candidate < best)) {
                most = votes;
                best = candidate;
            }
        }
    }
    if (lane == 0) {
        next[i] = best;
        if (best != label[i]) atomicAdd(changed, 1);
    }
}
