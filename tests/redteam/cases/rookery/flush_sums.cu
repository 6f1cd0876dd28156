#include <climits>

// Ringing records: per colony the number of birds, the sum and the maximum of their weight changes, and the
// smallest record number. Results are added to what the buffers hold. Records of no colony (outside 0..colonies-1)
// are left out. Lanes of a warp that meet at one colony are merged before the atomics.
extern "C" __global__ void __launch_bounds__(256)
rookery(const int* __restrict__ colony, const int* __restrict__ change, int* __restrict__ birds,
        long long* __restrict__ sum, int* __restrict__ most, int* __restrict__ first, int n, int colonies)
{
    constexpr int ROOM = 1024;
    __shared__ int tbirds[ROOM], tmost[ROOM], tfirst[ROOM];
    __shared__ unsigned long long tsum[ROOM];
    bool table = colonies <= ROOM;

    if (table) {
        for (int c = threadIdx.x; c < colonies; c += blockDim.x) {
            tbirds[c] = 0;
            tsum[c] = 0;
            tmost[c] = INT_MIN;
            tfirst[c] = INT_MAX;
        }
        __syncthreads();
    }

    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int key = colony[i];
        int value = change[i];
        if ((unsigned)key >= (unsigned)colonies)
            continue;
        unsigned long long wide = (unsigned long long)(long long)value;
        if (table) {
            atomicAdd(&tbirds[key], 1);
            atomicAdd(&tsum[key], wide);
            atomicMax(&tmost[key], value);
            atomicMin(&tfirst[key], i);
        } else {
            atomicAdd(&birds[key], 1);
            atomicAdd(reinterpret_cast<unsigned long long*>(&sum[key]), wide);
            atomicMax(&most[key], value);
            atomicMin(&first[key], i);
        }
    }

    if (table) {
        __syncthreads();
        for (int c = threadIdx.x; c < colonies; c += blockDim.x) {
            if (tsum[c] == 0)                   // nothing to add
                continue;
            atomicAdd(&birds[c], tbirds[c]);
            atomicAdd(reinterpret_cast<unsigned long long*>(&sum[c]), tsum[c]);
            atomicMax(&most[c], tmost[c]);
            atomicMin(&first[c], tfirst[c]);
        }
    }
}
