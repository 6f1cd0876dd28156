// Decrypts messages in CBC mode with Speck64/128, in place. One block of threads has one message.
// The tiles go from the end to the start, as each block of text needs the one before it still encrypted.

#define ROUNDS 27

__device__ unsigned turn_left(unsigned x, int n) { return (x << n) | (x >> (32 - n)); }
__device__ unsigned turn_right(unsigned x, int n) { return (x >> n) | (x << (32 - n)); }

__global__ void cbc(int* text, const int* iv, const int* key, int blocks)
{
    __shared__ unsigned rounds[ROUNDS];
    if (threadIdx.x == 0) {
        unsigned k = key[0];
        unsigned l[3] = {(unsigned)key[1], (unsigned)key[2], (unsigned)key[3]};
        for (int i = 0; i < ROUNDS; ++i) {
            rounds[i] = k;
            unsigned fresh = (k + turn_right(l[i % 3], 8)) ^ (unsigned)i;
            k = turn_left(k, 3) ^ fresh;
            l[i % 3] = fresh;
        }
    }
    __syncthreads();

    int* message = text + (size_t)blockIdx.x * blocks * 2;
    for (int start = (blocks - 1) / (int)blockDim.x * (int)blockDim.x; start >= 0; start -= blockDim.x) {
        int i = start + threadIdx.x;
        unsigned x = 0, y = 0, px = 0, py = 0;
        if (i < blocks) {
            x = message[2 * i];
            y = message[2 * i + 1];
            px = i > 0 ? message[2 * i - 2] : iv[2 * blockIdx.x];
            py = i > 0 ? message[2 * i - 1] : iv[2 * blockIdx.x + 1];
        }
        __syncthreads();
        for (int r = ROUNDS - 1; r >= 0; --r) {
            y = turn_right(x ^ y, 3);
            x = turn_left((x ^ rounds[r]) - y, 8);
        }
        if (i < blocks) {
            message[2 * i] = x ^ px;
            message[2 * i + 1] = y ^ py;
        }
    }
}
