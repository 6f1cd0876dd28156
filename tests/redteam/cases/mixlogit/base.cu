// A choice among alternatives: row r chooses a with a chance of exp(utility[r][a]) / sum over all of them. Out come
// the mean fare of what it chooses and the log of the sum. A utility of minus infinity is an alternative that row has
// not got; a row that has none at all has a mean of 0 and a log of minus infinity.
constexpr int threads = 128;

__device__ float largest(float v, float* shared)
{
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int step = threads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + step]);
        __syncthreads();
    }
    v = shared[0];
    __syncthreads();
    return v;
}

__device__ float total(float v, float* shared)
{
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int step = threads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    v = shared[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void mixlogit(const float* utility, const float* fare, float* mean, float* logsum, int rows,
                                    int alternatives)
{
    __shared__ float shared[threads];
    const float* u = utility + (size_t)blockIdx.x * alternatives;
    float top = -INFINITY;
    for (int a = threadIdx.x; a < alternatives; a += threads)
        top = fmaxf(top, u[a]);
    top = largest(top, shared);
    float sum = 0;
    for (int a = threadIdx.x; a < alternatives; a += threads)
        sum += expf(u[a] - top);
    sum = total(sum, shared);
    float paid = 0;
    for (int a = threadIdx.x; a < alternatives; a += threads)
        paid += expf(u[a] - top) * fare[a];
    paid = total(paid, shared);
    if (threadIdx.x == 0) {
        bool none = top == -INFINITY;
        mean[blockIdx.x] = none ? 0 : paid / sum;
        logsum[blockIdx.x] = none ? -INFINITY : top + logf(sum);
    }
}
