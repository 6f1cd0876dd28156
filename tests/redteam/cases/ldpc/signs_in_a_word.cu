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
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (long long)frames * checks) {
        return;
    }
    const signed char* in = from_bits + row * degree;
    signed char* out = to_bits + row * degree;
    int least = 128, second = 128, where = -1;
    // The signs stay in a word, so that the messages are read once.
    unsigned signs = 0;
    for (int i = 0; i < degree; i++) {
        const int v = in[i];
        const int size = v < 0 ? -v : v;
        signs |= (unsigned)(v < 0) << (i & 31);
        if (size < least) {
            second = least;
            least = size;
            where = i;
        } else if (size < second) {
            second = size;
        }
    }
    const unsigned odd = __popc(signs) & 1;
    for (int i = 0; i < degree; i++) {
        out[i] = answer(i == where ? second : least, offset, odd ^ (signs >> (i & 31) & 1));
    }
}
