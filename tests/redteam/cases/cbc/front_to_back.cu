// Decrypts messages in CBC mode with Speck64/128, in place. One block of threads has one message.
// The tiles go from the start to the end, so that DRAM pages are walked in order. The last encrypted block of
// a tile is carried to the next one in shared memory, in two slots that take turns.

#define ROUNDS 27
#define FULL 0xffffffffu

__device__ unsigned turn_left(unsigned x, int n) { return __funnelshift_l(x, x, n); }
__device__ unsigned turn_right(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__global__ void cbc(int* text, const int* iv, const int* key, int blocks)
{
    __shared__ unsigned rounds[ROUNDS];
    __shared__ unsigned edge[2][33][2];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warps = blockDim.x / 32;
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
        edge[0][0][0] = iv[2 * blockIdx.x];
        edge[0][0][1] = iv[2 * blockIdx.x + 1];
    }

    int* message = text + (size_t)blockIdx.x * blocks * 2;
    int slot = 0;
    for (int start = 0; start < blocks; start += blockDim.x) {
        int i = start + threadIdx.x;
        unsigned x = 0, y = 0;
        if (i < blocks) {
            x = message[2 * i];
            y = message[2 * i + 1];
        }
        if (lane == 31) {
            // The last warp hands its own to the next tile.
            int to = warp + 1 == warps ? slot ^ 1 : slot;
            int at = warp + 1 == warps ? 0 : warp + 1;
            edge[to][at][0] = x;
            edge[to][at][1] = y;
        }
        unsigned px = __shfl_up_sync(FULL, x, 1);
        unsigned py = __shfl_up_sync(FULL, y, 1);
        __syncthreads();
        if (lane == 0) {
            px = edge[slot][warp][0];
            py = edge[slot][warp][1];
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
        // The next tile's last warp writes into the slot that is read here.
        __syncthreads();
        slot ^= 1;
    }
}
