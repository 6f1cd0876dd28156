// Loss distribution of credit portfolios: name after name is folded in, which defaults with a chance of its own and
// then costs a whole number of units. The last place of a distribution holds whatever is lost beyond it.
// Two names are folded in at once, with the four ways in which they end: half of the barriers.

__global__ void tranche(const float* chance, const int* units, float* loss, int names, int places)
{
    extern __shared__ float both[];
    float* now = both;
    float* next = both + places;
    const float* p = chance + (size_t)blockIdx.x * names;
    const int* u = units + (size_t)blockIdx.x * names;
    for (int l = threadIdx.x; l < places; l += blockDim.x) now[l] = l == 0;
    __syncthreads();
    for (int k = 0; k < names; k += 2) {
        bool two = k + 1 < names;
        float pa = p[k], pb = two ? p[k + 1] : 0.0f;
        float qa = 1.0f - pa, qb = 1.0f - pb;
        int cost[4] = {0, u[k], two ? u[k + 1] : 0, 0};
        cost[3] = cost[1] + cost[2];
        float part[4] = {qa * qb, pa * qb, qa * pb, pa * pb};
        for (int l = threadIdx.x; l < places - 1; l += blockDim.x) {
            float v = 0;
#pragma unroll
            for (int c = 0; c < 4; ++c)
                if (l >= cost[c]) v += now[l - cost[c]] * part[c];
            next[l] = v;
        }
        // The last place is a warp's: it may have a dozen terms of each kind.
        if (threadIdx.x < 32) {
            float v = 0;
#pragma unroll
            for (int c = 0; c < 4; ++c)
                for (int j = max(0, places - 1 - cost[c]) + (int)threadIdx.x; j < places; j += 32)
                    v += now[j] * part[c];
#pragma unroll
            for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
            if (threadIdx.x == 0) next[places - 1] = v;
        }
        __syncthreads();
        float* t = now;
        now = next;
        next = t;
    }
    for (int l = threadIdx.x; l < places; l += blockDim.x) loss[(size_t)blockIdx.x * places + l] = now[l];
}
