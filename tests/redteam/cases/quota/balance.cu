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
    int kept = have;
    int refused = 0;
    int when = -1;
    for (int t = 0; t < n; ++t) {
        int full = min(have + in[t], most);
        kept += full - have;
        int want = out[t];
        int rest = full - want;
        int lack = (int)((unsigned)rest >> 31);
        refused += lack;
        when = lack & (int)((unsigned)when >> 31) ? t : when;
        have = rest & (lack - 1);
    }
    level[c] = have;
    served[c] = kept - have;
    denials[c] = refused;
    first[c] = when;
}
