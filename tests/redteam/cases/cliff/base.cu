// The steepest step of a series over a lag: the greatest |x[i+lag] - x[i]| and the first i that has it;
// -1 and -1 if there is no pair of numbers.
extern "C" __global__ void cliff(const float* x, float* top, int* at, int n, int lag)
{
    __shared__ float height[1024];
    __shared__ int place[1024];
    int t = threadIdx.x;

    float best = -1.0f;
    int where = -1;
    for (int i = t; i < n - lag; i += 1024) {
        float d = fabsf(x[i + lag] - x[i]);
        if (d > best) {
            best = d;
            where = i;
        }
    }
    height[t] = best;
    place[t] = where;
    __syncthreads();
    for (int half = 512; half > 0; half >>= 1) {
        if (t < half) {
            float other = height[t + half];
            int from = place[t + half];
            if (other > height[t] || (other == height[t] && from < place[t])) {
                height[t] = other;
                place[t] = from;
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        top[0] = height[0];
        at[0] = place[0];
    }
}
