// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
// The energies are read once: a sum is scaled anew where a lower one comes.
extern "C" __global__ void __launch_bounds__(256)
    widom(const float* __restrict__ energy, float* __restrict__ mu, int samples, float kt) {
    if (!(kt > 0.0f)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = NAN;
        return;
    }
    __shared__ float leasts[8], sums[8];
    const float* u = energy + (size_t)blockIdx.x * samples;
    const float top = 3.402823466e38f;
    float least = top, sum = 0.0f;
    if (threadIdx.x < samples) least = u[threadIdx.x], sum = 1.0f;
    for (int i = threadIdx.x + 256; i < samples; i += 256) {
        float e = u[i], lower = fminf(least, e);
        sum = sum * expf((lower - least) / kt) + expf((lower - e) / kt);
        least = lower;
    }
    for (int s = 16; s > 0; s /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, least, s), more = __shfl_xor_sync(0xffffffffu, sum, s);
        float lower = fminf(least, other);
        sum = sum * expf((lower - least) / kt) + more * expf((lower - other) / kt);
        least = lower;
    }
    if (threadIdx.x % 32 == 0) leasts[threadIdx.x / 32] = least, sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) {
            float lower = fminf(least, leasts[i]);
            sum = sum * expf((lower - least) / kt) + sums[i] * expf((lower - leasts[i]) / kt);
            least = lower;
        }
        mu[blockIdx.x] = least == top ? INFINITY : least - kt * logf(sum / samples);
    }
}
