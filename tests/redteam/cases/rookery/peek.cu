// Ringing records: per colony the number of birds, the sum and the maximum of their weight changes, and the
// smallest record number. Results are added to what the buffers hold. Records of no colony (outside 0..colonies-1)
// are left out. Lanes of a warp that meet at one colony are merged before the atomics.
extern "C" __global__ void __launch_bounds__(256)
rookery(const int* __restrict__ colony, const int* __restrict__ change, int* birds,
        long long* sum, int* most, int* first, int n, int colonies)
{
    int lane = threadIdx.x % 32;
    int stride = gridDim.x * blockDim.x;
    for (int from = blockIdx.x * blockDim.x + threadIdx.x - lane; from < n; from += stride) {
        int i = from + lane;
        int key = i < n ? colony[i] : -1;
        int value = i < n ? change[i] : 0;
        if (key >= colonies || key < 0)
            key = -1;

        unsigned peers = __match_any_sync(~0u, key);
        int total = __reduce_add_sync(peers, value);
        int top = __reduce_max_sync(peers, value);
        int lead = __ffs(peers) - 1;
        if (key >= 0 && lane == lead) {
            atomicAdd(&birds[key], __popc(peers));
            atomicAdd(reinterpret_cast<unsigned long long*>(&sum[key]), (unsigned long long)(long long)total);
            // both only move one way, so an old value can cost an atomic but never lose one
            if (__ldcg(&most[key]) < top)
                atomicMax(&most[key], top);
            if (__ldcg(&first[key]) > i)
                atomicMin(&first[key], i);
        }
    }
}
