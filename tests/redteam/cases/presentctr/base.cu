// PRESENT-80 in counter mode, in place: the n bytes at data are xored with the encryption of nonce, nonce + 1, ...
// Eight bytes make a block, little end first; the last block may be cut. key holds ten bytes, highest first.

__device__ const unsigned char box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

__device__ unsigned long long layer(unsigned long long state)
{
    unsigned long long out = 0;
    for (int i = 0; i < 16; i++) {
        unsigned nibble = box[(state >> (4 * i)) & 15];
        for (int b = 0; b < 4; b++)
            out |= (unsigned long long)((nibble >> b) & 1) << (16 * b + i);
    }
    return out;
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
    unsigned long long state = (((unsigned long long)nonce[1] << 32) | nonce[0]) + (unsigned long long)i;
    for (int r = 0; r < 31; r++)
        state = layer(state ^ rounds[r]);
    state ^= rounds[31];
    for (int b = 0; b < 8 && start + b < n; b++)
        data[start + b] ^= (unsigned char)(state >> (8 * b));
}
