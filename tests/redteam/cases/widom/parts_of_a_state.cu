// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
// Four blocks share a state, and the last of them to come puts their sums together.
#define STATES 16384
__device__ float leasts[4 * STATES], sums[4 * STATES];
__device__ unsigned done[STATES];

extern "C" __global__ void __launch_bounds__(256)
    widom(const float* __restrict__ energy, float* __restrict__ mu, int samples, float kt) {
    if (!(kt > 0.0f)) {
        if (threadIdx.x == 0) mu[blockIdx.x / 4] = NAN;
        return;
    }
    __shared__ float part[8];
    int state = blockIdx.x / 4, quarter = blockIdx.x % 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* u = energy + (size_t)state * samples;
    bool shared = state < STATES;
    if (!shared && quarter > 0) return;
    int from = shared ? (int)((long long)samples * quarter / 4) : 0;
    int to = shared ? (int)((long long)samples * (quarter + 1) / 4) : samples;
    float least = INFINITY;
    for (int i = from + threadIdx.x; i < to; i += 256) least = fminf(least, u[i]);
    for (int s = 16; s > 0; s /= 2) least = fminf(least, __shfl_xor_sync(0xffffffffu, least, s));
    if (lane == 0) part[warp] = least;
    __syncthreads();
    for (int i = 0; i < 8; ++i) least = fminf(least, part[i]);
    __syncthreads();
    float sum = 0.0f;
    if (!isinf(least))
        for (int i = from + threadIdx.x; i < to; i += 256) sum += expf((least - u[i]) / kt);
    else
        for (int i = from + threadIdx.x; i < to; i += 256) sum += isnan(u[i]) ? NAN : 0.0f;
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 8; ++i) sum += part[i];
    if (shared) {
        leasts[4 * state + quarter] = least;
        sums[4 * state + quarter] = sum;
        __threadfence();
        if (atomicInc(&done[state], 3) != 3) return;
        __threadfence();
        float all = 0.0f;
        least = INFINITY;
        for (int i = 0; i < 4; ++i) least = fminf(least, __ldcg(&leasts[4 * state + i]));
        for (int i = 0; i < 4; ++i) {
            float other = __ldcg(&leasts[4 * state + i]), more = __ldcg(&sums[4 * state + i]);
            all += isinf(other) ? more : more * expf((least - other) / kt);
        }
        sum = all;
    }
    mu[state] = isinf(least) ? least : least - kt * logf(sum / samples);
}
