// Ringing records: per colony the number of birds, the sum and the maximum of their weight changes, and the
// smallest record number. Results are added to what the buffers hold. Records of no colony (outside 0..colonies-1)
// are left out. Lanes of a warp that meet at one colony are merged before the atomics.
extern "C" __global__ void __launch_bounds__(256)
rookery(const int* __restrict__ colony, const int* __restrict__ change, int* __restrict__ birds,
        long long* __restrict__ sum, int* __restrict__ most, int* __restrict__ first, int n, int colonies)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int key = colony[i];
        if (key < 0 || key >= colonies)
            continue;
        int value = change[i];
        atomicAdd(&birds[key], 1);
        atomicAdd(reinterpret_cast<unsigned long long*>(&sum[key]), (unsigned long long)(long long)value);
        atomicMax(&most[key], value);
        atomicMin(&first[key], i);
    }
}
