// Loss distribution of credit portfolios: name after name is folded in, which defaults with a chance of its own and
// then costs a whole number of units. The last place of a distribution holds whatever is lost beyond it.
// In place, in half of the shared memory: a thread takes what it needs into registers, and writes when all have.

__global__ void tranche(const float* chance, const int* units, float* loss, int names, int places)
{
    extern __shared__ float now[];
    const float* p = chance + (size_t)blockIdx.x * names;
    const int* u = units + (size_t)blockIdx.x * names;
    for (int l = threadIdx.x; l < places; l += blockDim.x) now[l] = l == 0;
    __syncthreads();
    for (int k = 0; k < names; ++k) {
        float hit = p[k], spared = 1.0f - hit;
        int cost = u[k];
        // From the top down: a round of the block reads below what it writes, never above.
        for (int start = (places - 1) / (int)blockDim.x * (int)blockDim.x; start >= 0; start -= blockDim.x) {
            int l = start + threadIdx.x;
            float v = 0;
            if (l < places) {
                v = now[l] * spared;
                if (l < places - 1) {
                    if (l >= cost) v += now[l - cost] * hit;
                } else {
                    for (int j = max(0, places - 1 - cost); j < places; ++j) v += now[j] * hit;
                }
            }
            __syncthreads();
            if (l < places) now[l] = v;
        }
    }
    __syncthreads();
    for (int l = threadIdx.x; l < places; l += blockDim.x) loss[(size_t)blockIdx.x * places + l] = now[l];
}
