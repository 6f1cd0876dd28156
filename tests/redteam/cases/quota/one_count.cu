// A token bucket for each client of a service: every period refills it up to its cap, and what the client asks
// for is granted as far as the tokens go.
__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= clients) return;
    const int* in = refill + (size_t)c * n;
    const int* out = demand + (size_t)c * n;
    int most = cap[c];
    int have = min(start[c], most);
    unsigned both = 0;
    int when = -1;
    for (int t = 0; t < n; ++t) {
        have = min(have + in[t], most);
        int want = out[t];
        int give = min(have, want);
        if (give < want) {
            if (when < 0) when = t;
            both += 1u << 20;
        }
        have -= give;
        both += (unsigned)give;
    }
    level[c] = have;
    served[c] = both & 0xfffffu;
    denials[c] = (int)(both >> 20);
    first[c] = when;
}
