// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
// The sum of a thread carries what was rounded off.
extern "C" __global__ void __launch_bounds__(256)
    widom(const float* __restrict__ energy, float* __restrict__ mu, int samples, float kt) {
    if (!(kt > 0.0f)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = NAN;
        return;
    }
    __shared__ float part[8];
    const float* u = energy + (size_t)blockIdx.x * samples;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float least = INFINITY;
    for (int i = threadIdx.x; i < samples; i += 256) least = fminf(least, u[i]);
    for (int s = 16; s > 0; s /= 2) least = fminf(least, __shfl_xor_sync(0xffffffffu, least, s));
    if (lane == 0) part[warp] = least;
    __syncthreads();
    for (int i = 0; i < 8; ++i) least = fminf(least, part[i]);
    __syncthreads();
    if (isinf(least)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = least;
        return;
    }
    float sum = 0.0f, carry = 0.0f;
    for (int i = threadIdx.x; i < samples; i += 256) {
        float term = __fsub_rn(expf((least - u[i]) / kt), carry);
        float next = __fadd_rn(sum, term);
        carry = isinf(next) ? 0.0f : __fsub_rn(__fsub_rn(next, sum), term);
        sum = next;
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) sum += part[i];
        mu[blockIdx.x] = least - kt * logf(sum / samples);
    }
}
