// Squeezes text: a run of blanks becomes one space. Tiles of 1024 bytes are counted, the counts summed up, and each tile written
// where it belongs; offset[t] says where tile t begins in the result, the last one how long it is. The rest of the room is zero.
#include <cuda_runtime.h>

constexpr int TILE = 1024;

// One for tab, line feed, carriage return and space.
__constant__ unsigned char BLANK[256] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

__device__ __forceinline__ bool blank(unsigned char c)
{
    return BLANK[c] != 0;
}

__device__ __forceinline__ bool kept(const unsigned char* text, int n, long long i)
{
    return i < n && !(blank(text[i]) && i > 0 && blank(text[i - 1]));
}

// Four bytes of a thread, one after another.
__global__ void count_tiles(const unsigned char* text, int n, int* offset)
{
    __shared__ int warps[8];
    const long long from = (long long)blockIdx.x * TILE + 4 * threadIdx.x;
    bool before = from > 0 && from <= n && blank(text[from - 1]);
    int count = 0;
    for (int k = 0; k < 4; k++) {
        if (from + k < n) {
            const bool now = blank(text[from + k]);
            count += !(now && before);
            before = now;
        }
    }
    for (int s = 16; s > 0; s >>= 1) {
        count += __shfl_xor_sync(0xffffffffu, count, s);
    }
    if ((threadIdx.x & 31) == 0) {
        warps[threadIdx.x >> 5] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < 8; w++) {
            sum += warps[w];
        }
        offset[blockIdx.x] = sum;
    }
}

// Sums of all before, in place, by a block of 256; the total goes behind.
__device__ void sum_up(int* offset, int tiles, int* length)
{
    __shared__ int part[256];
    int before = 0;
    for (int base = 0; base < tiles; base += 256) {
        const int t = base + threadIdx.x;
        const int own = t < tiles ? __ldcg(offset + t) : 0;
        part[threadIdx.x] = own;
        __syncthreads();
        for (int s = 1; s < 256; s <<= 1) {
            const int left = threadIdx.x >= s ? part[threadIdx.x - s] : 0;
            __syncthreads();
            part[threadIdx.x] += left;
            __syncthreads();
        }
        if (t < tiles) {
            offset[t] = before + part[threadIdx.x] - own;
        }
        before += part[255];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        offset[tiles] = before;
        *length = before;
    }
}

__global__ void sum_tiles(int* offset, int tiles, int* length)
{
    sum_up(offset, tiles, length);
}

__global__ void write_tiles(const unsigned char* text, int n, const int* offset, unsigned char* out)
{
    __shared__ int warps[8];
    const long long from = (long long)blockIdx.x * TILE;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int to = offset[blockIdx.x];
    for (int r = 0; r < 4; r++) {
        const long long i = from + r * 256 + threadIdx.x;
        const bool keep = kept(text, n, i);
        const unsigned votes = __ballot_sync(0xffffffffu, keep);
        if (lane == 0) {
            warps[warp] = __popc(votes);
        }
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; w++) {
            before += w < warp ? warps[w] : 0;
            all += warps[w];
        }
        if (keep) {
            out[to + before + __popc(votes & ((1u << lane) - 1))] = blank(text[i]) ? ' ' : text[i];
        }
        to += all;
        __syncthreads();
    }
}

extern "C" void squeeze(const unsigned char* text, unsigned char* out, int* offset, int* length, int n)
{
    const int tiles = (int)((n + (TILE - 1LL)) / TILE);
    cudaMemsetAsync(out, 0, n);
    count_tiles<<<tiles, 256>>>(text, n, offset);
    sum_tiles<<<1, 256>>>(offset, tiles, length);
    write_tiles<<<tiles, 256>>>(text, n, offset, out);
}
