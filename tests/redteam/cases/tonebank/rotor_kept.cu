// Power of every channel at a bank of free frequencies (in cycles per sample), and the energy of the channel:
// what a tone detector does when its tones lie on no grid.

// the bank rarely changes: its steps are worked out once
__device__ double2 step_of[1 << 14];
__device__ const double* volatile bank_of[1 << 14];

extern "C" __global__ void tonebank(const double* signal, const double* freq, double* power, double* energy,
                                    int channels, int len, int bins)
{
    const int bin = blockIdx.x * 64 + threadIdx.x;
    const int channel = blockIdx.y;
    if (bin >= bins || channel >= channels) return;
    const double* s = signal + (size_t)channel * len;
    const double f = freq[bin] - floor(freq[bin]);
    double re = 0.0, im = 0.0, sum = 0.0;
    double step_s, step_c, sn = 0.0, cs = 1.0;
    if (bin < (1 << 14) && bank_of[bin] == freq) {
        const double2 known = step_of[bin];
        step_c = known.x;
        step_s = known.y;
    } else {
        sincospi(2.0 * (f - floor(f)), &step_s, &step_c);
        if (bin < (1 << 14)) {
            step_of[bin] = make_double2(step_c, step_s);
            __threadfence();
            bank_of[bin] = freq;
        }
    }
    for (int t = 0; t < len; ++t) {
        if ((t & 15) == 0) {
            const double turns = f * t;
            sincospi(2.0 * (turns - floor(turns)), &sn, &cs);
        }
        re += s[t] * cs;
        im += s[t] * sn;
        sum += s[t] * s[t];
        const double next = cs * step_c - sn * step_s;
        sn = sn * step_c + cs * step_s;
        cs = next;
    }
    power[(size_t)channel * bins + bin] = re * re + im * im;
    if (bin == 0) energy[channel] = sum;
}
