// Decrypts messages in CBC mode with Speck64/128, in place. One block of threads has one message.
// Each thread has four blocks of text in flight: the rounds are a chain of dependent steps, and four chains
// hide each other's latency. Tiles go from the end to the start.

#define ROUNDS 27
#define EACH 4

__device__ unsigned turn_left(unsigned x, int n) { return __funnelshift_l(x, x, n); }
__device__ unsigned turn_right(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__global__ void __launch_bounds__(256) cbc(int* text, const int* iv, const int* key, int blocks)
{
    __shared__ unsigned rounds[ROUNDS];
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

    int* message = text + (size_t)blockIdx.x * blocks * 2;
    int tile = EACH * blockDim.x;
    for (int start = (blocks - 1) / tile * tile; start >= 0; start -= tile) {
        unsigned x[EACH], y[EACH], px[EACH], py[EACH];
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            int i = start + j * blockDim.x + threadIdx.x;
            x[j] = y[j] = px[j] = py[j] = 0;
            if (i < blocks) {
                x[j] = message[2 * i];
                y[j] = message[2 * i + 1];
                px[j] = i > 0 ? message[2 * i - 2] : iv[2 * blockIdx.x];
                py[j] = i > 0 ? message[2 * i - 1] : iv[2 * blockIdx.x + 1];
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = ROUNDS - 1; r >= 0; --r) {
            unsigned k = rounds[r];
#pragma unroll
            for (int j = 0; j < EACH; ++j) {
                y[j] = turn_right(x[j] ^ y[j], 3);
                x[j] = turn_left((x[j] ^ k) - y[j], 8);
            }
        }
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            int i = start + j * blockDim.x + threadIdx.x;
            if (i < blocks) {
                message[2 * i] = x[j] ^ px[j];
                message[2 * i + 1] = y[j] ^ py[j];
            }
        }
    }
}
