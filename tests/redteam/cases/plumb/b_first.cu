// Residual of a linear system for iterative refinement: r = b - A x with sums and products in twice the working
// precision, and the sum of the squares of r.
#include <cuda_runtime.h>

struct Twin { double hi, lo; };

// a + b = hi + lo exactly, whichever is larger
__device__ Twin two_sum(double a, double b)
{
    double s = __dadd_rn(a, b);
    double t = __dsub_rn(s, a);
    Twin r = { s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t)) };
    return r;
}

__device__ Twin add_product(Twin acc, double a, double b)
{
    double p = __dmul_rn(a, b);
    double e = __fma_rn(a, b, -p);
    Twin s = two_sum(acc.hi, p);
    s.lo = __dadd_rn(acc.lo, __dadd_rn(s.lo, e));
    return s;
}

__device__ Twin join(Twin a, Twin b)
{
    Twin s = two_sum(a.hi, b.hi);
    s.lo = __dadd_rn(s.lo, __dadd_rn(a.lo, b.lo));
    return s;
}

// the low part means nothing where the high part is not finite
__device__ double value(Twin a)
{
    return isfinite(a.hi) ? __dadd_rn(a.hi, a.lo) : a.hi;
}

__global__ void __launch_bounds__(256) residual(const double* A, const double* x, const double* b, double* r, int m, int n)
{
    __shared__ Twin part[256];
    int row = blockIdx.x;
    const double* a = A + (size_t)row * n;
    // the right side leads, so that the sum stays small when x is nearly the solution
    Twin acc = { threadIdx.x == 0 ? b[row] : 0.0, 0.0 };
    for (int k = threadIdx.x; k < n; k += 256) acc = add_product(acc, -a[k], x[k]);
    part[threadIdx.x] = acc;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (threadIdx.x < o) part[threadIdx.x] = join(part[threadIdx.x], part[threadIdx.x + o]);
        __syncthreads();
    }
    if (threadIdx.x == 0) r[row] = value(part[0]);
}

__global__ void __launch_bounds__(256) square(const double* r, double* norm, int m)
{
    __shared__ double part[256];
    double s = 0.0;
    for (int k = threadIdx.x; k < m; k += 256) s += r[k] * r[k];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) *norm = part[0];
}

extern "C" void plumb(const double* A, const double* x, const double* b, double* r, double* norm, int m, int n)
{
    residual<<<m, 256>>>(A, x, b, r, m, n);
    square<<<1, 256>>>(r, norm, m);
}
