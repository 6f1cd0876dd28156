// Check nodes of an offset min-sum decoder: along each edge of a check goes the least magnitude that came along its others, less
// the offset, with the product of their signs. Messages have eight bits and stop at +-127.

__device__ __forceinline__ signed char answer(int least, int offset, bool negative)
{
    const int size = min(max(least - offset, 0), 127);
    return (signed char)(negative ? -size : size);
}

extern "C" __global__ void ldpc(const signed char* from_bits, signed char* to_bits, int frames, int checks, int degree,
                                int offset)
{
    extern __shared__ signed char kept[];
    // The checks of a block lie side by side: they come in together, and magnitudes and signs are read from there.
    const long long row0 = (long long)blockIdx.x * blockDim.x;
    const int here = (int)min((long long)blockDim.x, (long long)frames * checks - row0);
    const signed char* in = from_bits + row0 * degree;
    signed char* out = to_bits + row0 * degree;
    const int count = here * degree;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        kept[i] = in[i];
    }
    __syncthreads();
    if (threadIdx.x < here) {
        signed char* own = kept + threadIdx.x * degree;
        signed char least = 127, second = 127;
        int where = -1;
        bool odd = false;
        for (int i = 0; i < degree; i++) {
            const signed char size = (signed char)abs(own[i]);
            odd ^= own[i] < 0;
            if (size < least) {
                second = least;
                least = size;
                where = i;
            } else if (size < second) {
                second = size;
            }
        }
        for (int i = 0; i < degree; i++) {
            own[i] = answer(i == where ? second : least, offset, odd ^ (own[i] < 0));
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        out[i] = kept[i];
    }
}
