// The steepest step of a series over a lag: the greatest |x[i+lag] - x[i]| and the first i that has it;
// -1 and -1 if there is no pair of numbers.
// The squares order as the steps do, and the sign is gone for free; the height is taken from the series at the end.
extern "C" __global__ void cliff(const float* x, float* top, int* at, int n, int lag)
{
    __shared__ float height[1024];
    __shared__ int place[1024];
    int t = threadIdx.x;

    float best = -1.0f;
    int where = -1;
    for (int i = t; i < n - lag; i += 1024) {
        float d = x[i + lag] - x[i];
        float square = d * d;
        if (square > best) {
            best = square;
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
        int i = place[0];
        top[0] = i < 0 ? -1.0f : fabsf(x[i + lag] - x[i]);
        at[0] = i;
    }
}
