// A warp for each client: a lane's periods are one clamped addition, and those are composed along the warp.
__device__ int through(int x, int add, int low, int high)
{
    return min(max(x + add, low), high);
}

__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (c >= clients) return;
    const int* in = refill + (size_t)c * n;
    const int* out = demand + (size_t)c * n;
    int most = cap[c];
    int each = (n + 31) / 32;
    int from = min(n, lane * each);
    int to = min(n, from + each);
    int add = 0, low = 0, high = most;
    for (int t = from; t < to; ++t) {
        int a = in[t], d = out[t];
        add += a - d;
        low = max(min(low + a, most) - d, 0);
        high = max(min(high + a, most) - d, 0);
    }
    int a1 = add, l1 = low, h1 = high;
    for (int k = 1; k < 32; k *= 2) {
        int pa = __shfl_up_sync(0xffffffffu, a1, k);
        int pl = __shfl_up_sync(0xffffffffu, l1, k);
        int ph = __shfl_up_sync(0xffffffffu, h1, k);
        if (lane >= k) {
            int nl = through(pl, a1, l1, h1);
            int nh = through(ph, a1, l1, h1);
            a1 += pa;
            l1 = nl;
            h1 = nh;
        }
    }
    int have = min(start[c], most);
    int before = through(have, a1, l1, h1);
    before = __shfl_up_sync(0xffffffffu, before, 1);
    if (lane > 0) have = before;
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
    total = __reduce_add_sync(0xffffffffu, total);
    refused = __reduce_add_sync(0xffffffffu, refused);
    when = __reduce_min_sync(0xffffffffu, when);
    if (lane == 31) {
        level[c] = have;
        served[c] = total;
        denials[c] = refused;
        first[c] = when < n ? when : -1;
    }
}
