// Power of every channel at a bank of free frequencies (in cycles per sample), and the energy of the channel:
// what a tone detector does when its tones lie on no grid.

extern "C" __global__ void tonebank(const double* signal, const double* freq, double* power, double* energy,
                                    int channels, int len, int bins)
{
    const int bin = blockIdx.x * 64 + threadIdx.x;
    const int channel = blockIdx.y;
    if (bin >= bins || channel >= channels) return;
    const double* s = signal + (size_t)channel * len;
    const double f = freq[bin] - floor(freq[bin]);
    double re = 0.0, im = 0.0, sum = 0.0;
    // two independent chains: one from each end
    double re2 = 0.0, im2 = 0.0, sum2 = 0.0;
    for (int t = 0; t < (len + 1) / 2; ++t) {
        const int u = len - 1 - t;
        const double turns = f * t, other = f * u;
        double sn, cs, sn2, cs2;
        sincospi(2.0 * (turns - floor(turns)), &sn, &cs);
        sincospi(2.0 * (other - floor(other)), &sn2, &cs2);
        re += s[t] * cs;
        im += s[t] * sn;
        sum += s[t] * s[t];
        re2 += s[u] * cs2;
        im2 += s[u] * sn2;
        sum2 += s[u] * s[u];
    }
    re += re2;
    im += im2;
    sum += sum2;
    power[(size_t)channel * bins + bin] = re * re + im * im;
    if (bin == 0) energy[channel] = sum;
}
