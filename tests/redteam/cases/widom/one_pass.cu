// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
// The energies are read once: a sum is scaled anew where a lower one comes.
struct Sum {
    float least, sum;
};

__device__ __forceinline__ Sum merged(Sum a, Sum b, float kt) {
    float least = fminf(a.least, b.least);
    if (isinf(least)) return {least, 0.0f};
    float x = isinf(a.least) ? 0.0f : a.sum * expf((least - a.least) / kt);
    float y = isinf(b.least) ? 0.0f : b.sum * expf((least - b.least) / kt);
    return {least, x + y};
}

extern "C" __global__ void __launch_bounds__(256)
    widom(const float* __restrict__ energy, float* __restrict__ mu, int samples, float kt) {
    if (!(kt > 0.0f)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = NAN;
        return;
    }
    __shared__ Sum part[8];
    const float* u = energy + (size_t)blockIdx.x * samples;
    Sum mine = {INFINITY, 0.0f};
    bool odd = false;
    for (int i = threadIdx.x; i < samples; i += 256) {
        float e = u[i];
        odd |= isnan(e);
        if (e < mine.least) {
            mine.sum = isinf(mine.least) ? 1.0f : fmaf(mine.sum, expf((e - mine.least) / kt), 1.0f);
            mine.least = e;
        } else if (!isinf(mine.least))
            mine.sum += expf((mine.least - e) / kt);
    }
    for (int s = 16; s > 0; s /= 2) {
        Sum other = {__shfl_xor_sync(0xffffffffu, mine.least, s), __shfl_xor_sync(0xffffffffu, mine.sum, s)};
        mine = merged(mine, other, kt);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    bool any = __syncthreads_or(odd);
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) mine = merged(mine, part[i], kt);
        float found = mine.least - kt * logf(mine.sum / samples);
        mu[blockIdx.x] = isinf(mine.least) ? mine.least : any ? NAN : found;
    }
}
