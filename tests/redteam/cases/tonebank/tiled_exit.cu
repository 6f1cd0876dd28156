// Power of every channel at a bank of free frequencies, and the energy of the channel:
// the samples of the channel pass through shared memory.

extern "C" __global__ void tonebank(const double* signal, const double* freq, double* power, double* energy,
                                    int channels, int len, int bins)
{
    __shared__ double tile[256];
    const int bin = blockIdx.x * 64 + threadIdx.x;
    const int channel = blockIdx.y;
    if (bin >= bins || channel >= channels) return;
    const double* s = signal + (size_t)channel * len;
    const double f = freq[bin] - floor(freq[bin]);
    double re = 0.0, im = 0.0, sum = 0.0;
    for (int first = 0; first < len; first += 256) {
        const int count = min(256, len - first);
        for (int j = threadIdx.x; j < count; j += 64) tile[j] = s[first + j];
        __syncthreads();
        for (int j = 0; j < count; ++j) {
            const double turns = f * (first + j);
            const double v = tile[j];
            double sn, cs;
            sincospi(2.0 * (turns - floor(turns)), &sn, &cs);
            re += v * cs;
            im += v * sn;
            sum += v * v;
        }
        __syncthreads();
    }
    if (bin < bins) power[(size_t)channel * bins + bin] = re * re + im * im;
    if (bin == 0) energy[channel] = sum;
}
