// PRESENT-80 in counter mode, in place: the n bytes at data are xored with the encryption of nonce, nonce + 1, ...
// Eight bytes make a block, little end first; the last block may be cut. key holds ten bytes, highest first.

__device__ const unsigned char box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

// What the boxes and the wiring make of each byte of the state, computed by the compiler.
struct Wired {
    unsigned long long of[8][256];
};

constexpr Wired wire()
{
    constexpr unsigned char boxes[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};
    Wired wired = {};
    for (int place = 0; place < 8; place++)
        for (int byte = 0; byte < 256; byte++) {
            unsigned long long out = 0;
            for (int half = 0; half < 2; half++)
                for (int b = 0; b < 4; b++)
                    if ((boxes[(byte >> (4 * half)) & 15] >> b) & 1)
                        out |= 1ull << (16 * b + 2 * place + half);
            wired.of[place][byte] = out;
        }
    return wired;
}

__device__ const Wired wired = wire();

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

extern "C" __global__ void presentctr(unsigned char* data, const unsigned char* key, const unsigned* nonce, int n)
{
    __shared__ unsigned long long rounds[32];
    __shared__ unsigned long long table[8 * 256];
    for (int e = threadIdx.x; e < 8 * 256; e += blockDim.x)
        table[e] = wired.of[e >> 8][e & 255];
    if (threadIdx.x == 0)
        expand(key, rounds);
    __syncthreads();
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long start = 8 * i;
    if (start >= n)
        return;
    unsigned long long state = (((unsigned long long)nonce[1] << 32) | nonce[0]) + (unsigned long long)i;
    for (int r = 0; r < 31; r++) {
        unsigned long long in = state ^ rounds[r];
        state = 0;
#pragma unroll
        for (int place = 0; place < 8; place++)
            state |= table[256 * place + ((in >> (8 * place)) & 255)];
    }
    state ^= rounds[31];
    for (int b = 0; b < 8 && start + b < n; b++)
        data[start + b] ^= (unsigned char)(state >> (8 * b));
}
