// Spectral radiance of a black body (Planck's law) for many (wavelength, temperature) pairs,
// seen through a grey filter; double precision because the exponents span many decades.
//
//     B(lambda, T) = 2 h c^2 / lambda^5 / (exp(h c / (lambda k T)) - 1)

#define PLANCK_H 6.62607015e-34
#define LIGHT_C 2.99792458e8
#define BOLTZMANN_K 1.380649e-23

__global__ void planck(const double *wavelength_nm, const double *temperature, double *radiance,
                       double emissivity, double distance, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n)
        return;

    double lambda = wavelength_nm[i] * pow(10.0, -9.0);
    double x = PLANCK_H * LIGHT_C / (lambda * BOLTZMANN_K * temperature[i]);
    double b = 2.0 * PLANCK_H * pow(LIGHT_C, 2.0) / pow(lambda, 5.0) / (exp(x) - 1.0);

    // inverse square law, then W / m^3 -> kW / nm
    radiance[i] = emissivity * b / pow(distance, 2.0) / 1.0e12;
}
