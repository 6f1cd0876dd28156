// Goodness of fit: Pearson's chi square of rows of counts against one list of expected counts; neighbouring bins are
// pooled until their expectation reaches `least`, what is left at the end joins the last pool.
#include <cuda_runtime.h>

__device__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

__global__ void goodness(const int* seen, const float* expected, float* chi, int* pools, int rows, int bins, float least)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    float sum = 0.0f;
    int closed = 0;
    long long poolSeen = 0, openSeen = 0;       // the last closed pool and the one that is being filled
    float poolExpected = 0.0f, openExpected = 0.0f;
    int open = 0;                               // bins in it
    for (int b = 0; b < bins; ++b) {
        openSeen += count[b];
        openExpected += expected[b];
        ++open;
        if (openExpected >= least) {
            if (closed > 0)
                sum += pearson(poolSeen, poolExpected);
            poolSeen = openSeen;
            poolExpected = openExpected;
            ++closed;
            openSeen = 0;
            openExpected = 0.0f;
            open = 0;
        }
    }
    if (open > 0) {
        poolSeen += openSeen;
        poolExpected += openExpected;
        if (closed == 0)
            closed = 1;
    }
    sum += pearson(poolSeen, poolExpected);
    chi[row] = sum;
    pools[row] = closed;
}
