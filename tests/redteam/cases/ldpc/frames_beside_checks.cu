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
    // A warp for each check and frame: the check is the block's, the frames are its warps'.
    const int lane = threadIdx.x;
    const int frame = blockIdx.x * blockDim.y + threadIdx.y;
    if (frame >= frames) {
        return;
    }
    const size_t row = (size_t)frame * checks + blockIdx.y;
    const signed char* in = from_bits + row * degree;
    signed char* out = to_bits + row * degree;
    int least = 128, second = 128, where = 0x7fffffff;
    bool odd = false;
    for (int i = lane; i < degree; i += 32) {
        const int v = in[i];
        const int size = v < 0 ? -v : v;
        odd ^= v < 0;
        if (size < least) {
            second = least;
            least = size;
            where = i;
        } else if (size < second) {
            second = size;
        }
    }
    // Two least of a warp: of equal ones it does not matter which is which, as the second is then as small.
    for (int s = 16; s > 0; s >>= 1) {
        const int l = __shfl_xor_sync(0xffffffffu, least, s), t = __shfl_xor_sync(0xffffffffu, second, s);
        const int w = __shfl_xor_sync(0xffffffffu, where, s);
        odd ^= (bool)__shfl_xor_sync(0xffffffffu, (int)odd, s);
        const bool other = l < least || (l == least && w < where);
        second = min(min(second, t), other ? least : l);
        where = other ? w : where;
        least = other ? l : least;
    }
    for (int i = lane; i < degree; i += 32) {
        out[i] = answer(i == where ? second : least, offset, odd ^ (in[i] < 0));
    }
}
