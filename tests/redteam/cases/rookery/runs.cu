// Ringing records: per colony the number of birds, the sum and the maximum of their weight changes, and the
// smallest record number. Results are added to what the buffers hold. Records of no colony (outside 0..colonies-1)
// are left out. Lanes of a warp that meet at one colony are merged before the atomics.
extern "C" __global__ void __launch_bounds__(256)
rookery(const int* __restrict__ colony, const int* __restrict__ change, int* __restrict__ birds,
        long long* __restrict__ sum, int* __restrict__ most, int* __restrict__ first, int n, int colonies)
{
    int lane = threadIdx.x % 32;
    int stride = gridDim.x * blockDim.x;
    for (int from = blockIdx.x * blockDim.x + threadIdx.x - lane; from < n; from += stride) {
        int i = from + lane;
        int key = i < n ? colony[i] : -1;
        int value = i < n ? change[i] : 0;
        if (key >= colonies || key < 0)
            key = -1;

        // a run begins where the colony differs from that of the lane before
        int before = __shfl_up_sync(~0u, key, 1);
        unsigned heads = __ballot_sync(~0u, lane == 0 || key != before);
        int lead = 31 - __clz(heads & (~0u >> (31 - lane)));
        unsigned later = lane == 31 ? 0u : heads & (~0u << (lane + 1));
        int end = later ? __ffs(later) - 1 : 32;                   // first lane of the next run
        unsigned peers = (end == 32 ? ~0u : (1u << end) - 1) & (~0u << lead);
        int total = __reduce_add_sync(peers, value);
        int top = __reduce_max_sync(peers, value);
        if (key >= 0 && lane == lead) {
            atomicAdd(&birds[key], __popc(peers));
            atomicAdd(reinterpret_cast<unsigned long long*>(&sum[key]), (unsigned long long)(long long)total);
            atomicMax(&most[key], top);
            atomicMin(&first[key], i);
        }
    }
}
