#include <cmath>

// A trailing stop on each path of (logarithms of) prices: a position is sold once the price is `drop`
// below its highest since it was bought. Then `rest` prices are passed over, and the next position is
// bought once the price is `rise` above its lowest since. What is open at the end counts as it stands.
__global__ void trailing(const float* price, float* profit, int* sales, int paths, int n,
                         float drop, float rise, int rest) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    const float* p = price + (size_t)path * n;
    double sum = 0;
    int sold = 0, pause = 0;
    bool holding = true;
    float bought = p[0], high = bought, low = 0;
    for (int i = 1; i < n; ++i) {
        const float now = p[i];
        if (pause > 0) {
            if (--pause == 0) low = INFINITY;
        } else if (holding) {
            if (now > high) high = now;
            if (high - now >= drop) {
                sum += (double)now - bought;
                ++sold;
                holding = false;
                pause = rest;
            }
        } else {
            if (now < low) low = now;
            if (now >= low + rise) {
                bought = now;
                high = now;
                holding = true;
            }
        }
    }
    if (holding) sum += (double)p[n - 1] - bought;
    profit[path] = (float)sum;
    sales[path] = sold;
}
