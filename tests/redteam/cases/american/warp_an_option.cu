#define UP 1.02
#define CHANCE 0.51
#define DISCOUNT 0.9995

// What the right to sell at a price is worth: backwards through a tree of prices, a warp an option.
__global__ void american(const double* spot, const double* strike, double* value, int n, int steps) {
    extern __shared__ double held[];
    int lane = threadIdx.x;
    double s0 = spot[blockIdx.x], k = strike[blockIdx.x];
    for (int j = lane; j <= steps; j += 32) held[j] = fmax(k - s0 * pow(UP, 2.0 * j - steps), 0.0);
    __syncwarp();
    for (int s = steps - 1; s >= 0; --s)
        for (int first = 0; first <= s; first += 32) {
            int j = first + lane;
            double v = 0.0;
            if (j <= s) {
                v = DISCOUNT * (CHANCE * held[j + 1] + (1.0 - CHANCE) * held[j]);
                v = fmax(v, k - s0 * pow(UP, 2.0 * j - s));
            }
            __syncwarp();
            if (j <= s) held[j] = v;
            __syncwarp();
        }
    if (lane == 0) value[blockIdx.x] = held[0];
}
