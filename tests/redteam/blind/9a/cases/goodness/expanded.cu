#include <cuda_runtime.h>

// The sum of (O - E)^2 / E is that of O^2 / E less twice all counts plus all expectations: one division and one
// multiplication a pool, and the totals once a row.
__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    float squares = 0.0f, poolExpected = 0.0f, openExpected = 0.0f, expectedAll = 0.0f;
    long long poolSeen = 0, openSeen = 0, seenAll = 0;
    int closed = 0, open = 0;
    for (int b = 0; b <= bins; ++b) {
        bool end = b == bins;
        if (end && open > 0) {
            poolSeen += openSeen;
            poolExpected += openExpected;
            closed = max(closed, 1);
        }
        if (!end) {
            openSeen += count[b];
            openExpected += expected[b];
            ++open;
        }
        if (end || openExpected >= least) {
            if ((closed > 0 || end) && poolExpected > 0.0f) {
                float o = (float)poolSeen;
                squares += o * (o / poolExpected);
                seenAll += poolSeen;
                expectedAll += poolExpected;
            }
            if (end)
                break;
            poolSeen = openSeen;
            poolExpected = openExpected;
            ++closed;
            openSeen = 0;
            openExpected = 0.0f;
            open = 0;
        }
    }
    chi[row] = squares - 2.0f * (float)seenAll + expectedAll;
    pools[row] = closed;
}
