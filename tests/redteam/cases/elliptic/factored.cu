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
        // near 1 the difference 1 - m is the product (1 - k)(1 + k), which keeps its digits
        double modulus = sqrt(q);
        double a = 1.0, b = sqrt((1.0 - modulus) * (1.0 + modulus));
        double sum = 0.5 * q, weight = 1.0;
        for (int j = 0; j < 40 && fabs(a - b) > 1e-15 * a; j++) {
            double c = 0.5 * (a - b);
            double next = 0.5 * (a + b);
            b = sqrt(a * b);
            a = next;
            sum += weight * c * c;
            weight *= 2.0;
        }
        k = 1.5707963267948966 / a;
        e = k * (1.0 - sum);
    }
    first[i] = k;
    second[i] = e;
}
