// Widom's test particles: the excess chemical potential of each state from the energies of particles put in at random,
// -kT log <exp(-u/kT)>. The energy of a particle that overlaps another is infinite; where all of them are, so is mu.
// There is no mu without a temperature above zero.
extern "C" __global__ void widom(const float* energy, float* mu, int samples, float kt) {
    if (!(kt > 0.0f)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = NAN;
        return;
    }
    __shared__ float part[256];
    const float* u = energy + (size_t)blockIdx.x * samples;
    float least = INFINITY;
    for (int i = threadIdx.x; i < samples; i += 256) least = fminf(least, u[i]);
    part[threadIdx.x] = least;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] = fminf(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    least = part[0];
    __syncthreads();
    if (isinf(least)) {
        if (threadIdx.x == 0) mu[blockIdx.x] = least;
        return;
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < samples; i += 256) sum += expf((least - u[i]) / kt);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) mu[blockIdx.x] = least - kt * logf(part[0] / samples);
}
