// Tiles of 128 clients and 16 periods come through shared memory.
__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    __shared__ short ins[128][17];
    __shared__ short outs[128][17];
    int group = blockIdx.x * 128;
    int c = group + threadIdx.x;
    bool mine = c < clients;
    int most = mine ? cap[c] : 0;
    int have = mine ? min(start[c], most) : 0;
    long long total = 0;
    int refused = 0;
    int when = -1;
    for (int from = 0; from < n; from += 16) {
        int width = min(16, n - from);
        int k = threadIdx.x & 15;
        if (k < width) {
            for (int r = threadIdx.x >> 4; r < 128 && group + r < clients; r += 8) {
                ins[r][k] = (short)refill[(size_t)(group + r) * n + from + k];
                outs[r][k] = (short)demand[(size_t)(group + r) * n + from + k];
            }
        }
        __syncthreads();
        if (mine) {
            for (int i = 0; i < width; ++i) {
                have = min(have + ins[threadIdx.x][i], most);
                int want = outs[threadIdx.x][i];
                int give = min(have, want);
                if (give < want) {
                    if (when < 0) when = from + i;
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
