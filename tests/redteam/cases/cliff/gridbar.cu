// The steepest step of a series over a lag: the greatest |x[i+lag] - x[i]| and the first i that has it;
// -1 and -1 if there is no pair of numbers.
// One block per 1024 elements. All of them meet at a barrier of the whole grid, then the first picks the best.
const int most = 16384;

__device__ float part_height[most];
__device__ int part_place[most];
__device__ unsigned arrived;
__device__ unsigned round_no;

__device__ __forceinline__ bool steeper(float d, int i, float best, int where)
{
    return d > best || (d == best && i < where);
}

extern "C" __global__ void __launch_bounds__(256, 8) cliff(const float* x, float* top, int* at, int n, int lag)
{
    __shared__ float height[8];
    __shared__ int place[8];
    float best = -1.0f;
    int where = -1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - lag; i += gridDim.x * blockDim.x) {
        float d = fabsf(x[i + lag] - x[i]);
        if (d > best) {
            best = d;
            where = i;
        }
    }
    for (int step = 16; step > 0; step >>= 1) {
        float other = __shfl_down_sync(0xffffffffu, best, step);
        int from = __shfl_down_sync(0xffffffffu, where, step);
        if (steeper(other, from, best, where)) {
            best = other;
            where = from;
        }
    }
    if ((threadIdx.x & 31) == 0) {
        height[threadIdx.x >> 5] = best;
        place[threadIdx.x >> 5] = where;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile unsigned* now = &round_no;
        unsigned before = *now;
        for (int k = 1; k < 8; k++)
            if (steeper(height[k], place[k], best, where)) {
                best = height[k];
                where = place[k];
            }
        part_height[blockIdx.x] = best;
        part_place[blockIdx.x] = where;
        __threadfence();
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            atomicAdd(&round_no, 1u);
        } else {
            while (*now == before)
                __nanosleep(40);
        }
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x != 0)
        return;

    best = -1.0f;
    where = -1;
    for (int k = threadIdx.x; k < (int)gridDim.x; k += blockDim.x) {
        float other = __ldcg(part_height + k);
        int from = __ldcg(part_place + k);
        if (steeper(other, from, best, where)) {
            best = other;
            where = from;
        }
    }
    for (int step = 16; step > 0; step >>= 1) {
        float other = __shfl_down_sync(0xffffffffu, best, step);
        int from = __shfl_down_sync(0xffffffffu, where, step);
        if (steeper(other, from, best, where)) {
            best = other;
            where = from;
        }
    }
    if ((threadIdx.x & 31) == 0) {
        height[threadIdx.x >> 5] = best;
        place[threadIdx.x >> 5] = where;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            if (steeper(height[k], place[k], height[0], place[0])) {
                height[0] = height[k];
                place[0] = place[k];
            }
        top[0] = height[0];
        at[0] = place[0];
    }
}
