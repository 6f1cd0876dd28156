// Two clients in the halves of a word.
__global__ void quota(const int* refill, const int* demand, const int* cap, const int* start, int* level,
                      long long* served, int* denials, int* first, int clients, int n)
{
    int c = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= clients) return;
    int e = min(c + 1, clients - 1);
    const int* in0 = refill + (size_t)c * n;
    const int* in1 = refill + (size_t)e * n;
    const int* out0 = demand + (size_t)c * n;
    const int* out1 = demand + (size_t)e * n;
    unsigned most = (unsigned)cap[c] | (unsigned)cap[e] << 16;
    unsigned have = __vminu2((unsigned)start[c] | (unsigned)start[e] << 16, most);
    int total0 = 0, total1 = 0;
    int refused0 = 0, refused1 = 0;
    int when0 = -1, when1 = -1;
    for (int t = 0; t < n; ++t) {
        unsigned add = (unsigned)in0[t] | (unsigned)in1[t] << 16;
        unsigned want = (unsigned)out0[t] | (unsigned)out1[t] << 16;
        have = __vminu2(__vadd2(have, add), most);
        unsigned give = __vminu2(have, want);
        unsigned less = __vcmpltu2(give, want);
        if (less & 0xffffu) {
            if (when0 < 0) when0 = t;
            ++refused0;
        }
        if (less >> 16) {
            if (when1 < 0) when1 = t;
            ++refused1;
        }
        have = __vsub2(have, give);
        total0 += (int)(give & 0xffffu);
        total1 += (int)(give >> 16);
    }
    level[c] = (int)(have & 0xffffu);
    served[c] = total0;
    denials[c] = refused0;
    first[c] = when0;
    if (e != c) {
        level[e] = (int)(have >> 16);
        served[e] = total1;
        denials[e] = refused1;
        first[e] = when1;
    }
}
