// Four threads for each client, each with a quarter of the periods; a level is taken up some hundred periods earlier.
__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int c = id / 4;
    int part = id & 3;
    if (c >= clients) return;
    const int* in = refill + (size_t)c * n;
    const int* out = demand + (size_t)c * n;
    int most = cap[c];
    int each = (n + 3) / 4;
    int from = min(n, part * each);
    int to = min(n, from + each);
    int early = max(0, from - 384);
    int have = min(start[c], most);
    for (int t = early; t < from; ++t) {
        have = max(min(have + in[t], most) - out[t], 0);
    }
    int total = 0, refused = 0, when = n;
    for (int t = from; t < to; ++t) {
        have = min(have + in[t], most);
        int want = out[t];
        int give = min(have, want);
        if (give < want) {
            when = min(when, t);
            ++refused;
        }
        have -= give;
        total += give;
    }
    unsigned four = 0xfu << (threadIdx.x & 28);
    for (int k = 1; k < 4; k *= 2) {
        total += __shfl_xor_sync(four, total, k);
        refused += __shfl_xor_sync(four, refused, k);
        when = min(when, __shfl_xor_sync(four, when, k));
    }
    if (part == 3) {
        level[c] = have;
        served[c] = total;
        denials[c] = refused;
        first[c] = when < n ? when : -1;
    }
}
