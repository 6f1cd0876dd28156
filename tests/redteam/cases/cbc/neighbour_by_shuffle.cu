// Decrypts messages in CBC mode with Speck64/128, in place. One block of threads has one message.
// The block of text before a thread's own is in the lane beside it, which halves the loads; lane 0 loads its own.
// The warps go on at their own pace.

#define ROUNDS 27
#define FULL 0xffffffffu

__device__ unsigned turn_left(unsigned x, int n) { return __funnelshift_l(x, x, n); }
__device__ unsigned turn_right(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__global__ void cbc(int* text, const int* iv, const int* key, int blocks)
{
    __shared__ unsigned rounds[ROUNDS];
    int lane = threadIdx.x % 32;
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

    int* message = text + (size_t)blockIdx.x * blocks * 2;
    for (int start = (blocks - 1) / (int)blockDim.x * (int)blockDim.x; start >= 0; start -= blockDim.x) {
        int i = start + threadIdx.x;
        unsigned x = 0, y = 0;
        if (i < blocks) {
            x = message[2 * i];
            y = message[2 * i + 1];
        }
        unsigned px = __shfl_up_sync(FULL, x, 1);
        unsigned py = __shfl_up_sync(FULL, y, 1);
        if (lane == 0 && i < blocks) {
            px = i > 0 ? message[2 * i - 2] : iv[2 * blockIdx.x];
            py = i > 0 ? message[2 * i - 1] : iv[2 * blockIdx.x + 1];
        }
#pragma unroll
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
