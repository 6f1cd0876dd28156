#define UP 1.02
#define CHANCE 0.51
#define DISCOUNT 0.9995

// What the right to sell at a price is worth: backwards through a tree of prices, a block an option.
__global__ void american(const double* spot, const double* strike, double* value, int n, int steps) {
    extern __shared__ double held[];
    double s0 = spot[blockIdx.x], k = strike[blockIdx.x];
    int t = threadIdx.x;
    for (int j = t; j <= steps; j += blockDim.x) held[j] = fmax(k - s0 * pow(UP, 2.0 * j - steps), 0.0);
    // From one part to the next all prices grow alike.
    double grown = pow(UP, 2.0 * blockDim.x);
    __syncthreads();
    for (int s = steps - 1; s >= 0; --s) {
        double power = pow(UP, 2.0 * t - s);
        for (int first = 0; first <= s; first += blockDim.x) {
            int j = first + t;
            double v = 0.0;
            if (j <= s) {
                v = DISCOUNT * (CHANCE * held[j + 1] + (1.0 - CHANCE) * held[j]);
                v = fmax(v, k - s0 * power);
            }
            __syncthreads();
            if (j <= s) held[j] = v;
            __syncthreads();
            power *= grown;
        }
    }
    if (t == 0) value[blockIdx.x] = held[0];
}
