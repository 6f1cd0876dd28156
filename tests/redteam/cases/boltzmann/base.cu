// The mean energy of each system, its levels weighed by exp(-beta * energy).
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    const float* e = energy + (size_t)s * levels;
    float low = e[0];
    for (int l = 1; l < levels; ++l) low = fminf(low, e[l]);
    float sum = 0.f, weighed = 0.f;
    for (int l = 0; l < levels; ++l) {
        float w = expf(beta * (low - e[l]));
        sum += w;
        weighed += w * e[l];
    }
    mean[s] = weighed / sum;
}
