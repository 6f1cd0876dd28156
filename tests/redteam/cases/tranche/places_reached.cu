// Loss distribution of credit portfolios: name after name is folded in, which defaults with a chance of its own and
// then costs a whole number of units. The last place of a distribution holds whatever is lost beyond it.
// Places beyond the sum of the costs so far hold nothing yet and are left out. Both buffers begin with zeros, so that
// what is read there is zero.

__global__ void tranche(const float* chance, const int* units, float* loss, int names, int places)
{
    extern __shared__ float both[];
    float* now = both;
    float* next = both + places;
    const float* p = chance + (size_t)blockIdx.x * names;
    const int* u = units + (size_t)blockIdx.x * names;
    for (int l = threadIdx.x; l < 2 * places; l += blockDim.x) both[l] = l == 0;
    __syncthreads();
    int top = 0;
    for (int k = 0; k < names; ++k) {
        float hit = p[k], spared = 1.0f - hit;
        int cost = u[k];
        top = min(top + cost, places - 1);
        for (int l = threadIdx.x; l <= top; l += blockDim.x) {
            float v = now[l] * spared;
            if (l < places - 1) {
                if (l >= cost) v += now[l - cost] * hit;
            } else {
                for (int j = max(0, places - 1 - cost); j < places; ++j) v += now[j] * hit;
            }
            next[l] = v;
        }
        __syncthreads();
        float* t = now;
        now = next;
        next = t;
    }
    for (int l = threadIdx.x; l < places; l += blockDim.x) loss[(size_t)blockIdx.x * places + l] = now[l];
}
