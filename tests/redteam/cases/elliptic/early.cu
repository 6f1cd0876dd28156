// Complete elliptic integrals of the first and second kind for parameters m <= 1 (negative ones too), by the
// arithmetic-geometric mean. Above 1 there is no real value: NaN.
extern "C" __global__ void elliptic(const double* m, double* first, double* second, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double q = m[i];
    double k, e;
    if (!(q < 1.0)) {
        k = q == 1.0 ? __longlong_as_double(0x7ff0000000000000LL) : __longlong_as_double(0x7ff8000000000000LL);
        e = q == 1.0 ? 1.0 : k;
    } else if (isinf(q)) {
        k = 0.0;
        e = -q;
    } else {
        // the difference squares itself in every round: from 1e-8 on one last mean will do
        double a = 1.0, b = sqrt(1.0 - q);
        double sum = 0.5 * q, weight = 1.0;
        while (fabs(a - b) > 1e-8 * a) {
            double c = 0.5 * (a - b);
            double next = 0.5 * (a + b);
            b = sqrt(a * b);
            a = next;
            sum = fma(weight * c, c, sum);
            weight += weight;
        }
        sum += 0.25 * weight * (a - b) * (a - b);
        a = 0.5 * (a + b);
        k = 1.5707963267948966 / a;
        e = k * (1.0 - sum);
    }
    first[i] = k;
    second[i] = e;
}
