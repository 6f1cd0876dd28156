// Tiles of 32 clients and 32 periods come through shared memory, so that loads are of whole lines.
__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    __shared__ int ins[32][33];
    __shared__ int outs[32][33];
    int lane = threadIdx.x;
    int group = blockIdx.x * 32;
    int c = group + lane;
    bool mine = c < clients;
    int most = mine ? cap[c] : 0;
    int have = mine ? min(start[c], most) : 0;
    long long total = 0;
    int refused = 0;
    int when = -1;
    for (int from = 0; from < n; from += 32) {
        int width = min(32, n - from);
        if (lane < width) {
            for (int r = 0; r < 32 && group + r < clients; ++r) {
                ins[r][lane] = refill[(size_t)(group + r) * n + from + lane];
                outs[r][lane] = demand[(size_t)(group + r) * n + from + lane];
            }
        }
        __syncwarp();
        if (mine) {
            for (int k = 0; k < width; ++k) {
                have = min(have + ins[lane][k], most);
                int want = outs[lane][k];
                int give = min(have, want);
                if (give < want) {
                    if (when < 0) when = from + k;
                    ++refused;
                }
                have -= give;
                total += give;
            }
        }
        __syncwarp();
    }
    if (!mine) return;
    level[c] = have;
    served[c] = total;
    denials[c] = refused;
    first[c] = when;
}
