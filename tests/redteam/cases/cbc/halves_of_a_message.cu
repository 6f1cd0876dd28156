// Decrypts messages in CBC mode with Speck64/128, in place. Two blocks of threads share a message, so that
// few long messages fill the device, too. The second half comes first in the grid and takes the encrypted block
// on the border into registers at once, long before the first half has gone through its rounds.

#define ROUNDS 27

__device__ unsigned turn_left(unsigned x, int n) { return __funnelshift_l(x, x, n); }
__device__ unsigned turn_right(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__global__ void cbc(int* text, const int* iv, const int* key, int blocks)
{
    __shared__ unsigned rounds[ROUNDS];
    int which = blockIdx.x / 2;
    int* message = text + (size_t)which * blocks * 2;
    int border = (blocks + 1) / 2;
    bool second = blockIdx.x % 2 == 0;
    int first = second ? border : 0;
    int last = second ? blocks : border;
    if (first >= last) return;
    unsigned bx = second ? message[2 * border - 2] : iv[2 * which];
    unsigned by = second ? message[2 * border - 1] : iv[2 * which + 1];

    if (threadIdx.x == 0) {
        unsigned k = key[0];
        unsigned l[3] = {(unsigned)key[1], (unsigned)key[2], (unsigned)key[3]};
#pragma unroll
        for (int i = 0; i < ROUNDS; ++i) {
            rounds[i] = k;
            unsigned fresh = (k + turn_right(l[i % 3], 8)) ^ (unsigned)i;
            k = turn_left(k, 3) ^ fresh;
            l[i % 3] = fresh;
        }
    }
    __syncthreads();

    int count = last - first;
    for (int start = (count - 1) / (int)blockDim.x * (int)blockDim.x; start >= 0; start -= blockDim.x) {
        int i = first + start + threadIdx.x;
        unsigned x = 0, y = 0, px = 0, py = 0;
        if (i < last) {
            x = message[2 * i];
            y = message[2 * i + 1];
            px = i > first ? message[2 * i - 2] : bx;
            py = i > first ? message[2 * i - 1] : by;
        }
        __syncthreads();
#pragma unroll
        for (int r = ROUNDS - 1; r >= 0; --r) {
            y = turn_right(x ^ y, 3);
            x = turn_left((x ^ rounds[r]) - y, 8);
        }
        if (i < last) {
            message[2 * i] = x ^ px;
            message[2 * i + 1] = y ^ py;
        }
    }
}
