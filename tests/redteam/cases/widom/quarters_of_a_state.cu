// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
// Four blocks share a state, and the last of them to come puts their sums together.
#define STATES 16384
__device__ float2 quarters[4 * STATES];
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
    int each = (samples + 3) / 4;
    int from = shared ? quarter * each : 0, to = shared ? min(samples, from + each) : samples;
    float least = INFINITY;
    for (int i = from + threadIdx.x; i < to; i += 256) least = fminf(least, u[i]);
    for (int s = 16; s > 0; s /= 2) least = fminf(least, __shfl_xor_sync(0xffffffffu, least, s));
    if (lane == 0) part[warp] = least;
    __syncthreads();
    for (int i = 0; i < 8; ++i) least = fminf(least, part[i]);
    __syncthreads();
    if (isinf(least) && shared && to > from) {
        // Nothing in this quarter adds to the sum.
        if (threadIdx.x == 0) {
            quarters[4 * state + quarter] = make_float2(least, 0.0f);
            __threadfence();
            atomicAdd(&done[state], 1);
        }
        return;
    }
    float sum = 0.0f;
    if (!isinf(least))
        for (int i = from + threadIdx.x; i < to; i += 256) sum += expf((least - u[i]) / kt);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 8; ++i) sum += part[i];
    if (shared) {
        quarters[4 * state + quarter] = make_float2(least, sum);
        __threadfence();
        if (atomicAdd(&done[state], 1) % 4 != 3) return;
        __threadfence();
        volatile float* of = (volatile float*)&quarters[4 * state];
        least = fminf(fminf(of[0], of[2]), fminf(of[4], of[6]));
        sum = 0.0f;
        for (int i = 0; i < 4; ++i)
            if (!isinf(of[2 * i])) sum += of[2 * i + 1] * expf((least - of[2 * i]) / kt);
    }
    mu[state] = isinf(least) ? least : least - kt * logf(sum / samples);
}
