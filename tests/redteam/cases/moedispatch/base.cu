// Tokens to their experts: rows of the same expert are brought together, in the order of the tokens. place[t] is where
// token t went, -1 for one that no expert takes; the rows of `packed` that remain are nought.
#include <cuda_runtime.h>

__global__ void count_tokens(const int* expert, int* count, int tokens, int experts)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tokens && expert[t] >= 0 && expert[t] < experts)
        atomicAdd(&count[expert[t]], 1);
}

// A block goes over all tokens for one expert.
__global__ void place_tokens(const int* expert, const int* count, int* place, int tokens, int experts)
{
    __shared__ int warps[8];
    __shared__ int start;
    const int mine = blockIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
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

__global__ void clear_rows(float* packed, size_t many)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < many)
        packed[i] = 0.0f;
}

__global__ void copy_rows(const float* token, const int* place, float* packed, int width)
{
    const int to = place[blockIdx.x];
    if (to < 0)
        return;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        packed[(size_t)to * width + i] = token[(size_t)blockIdx.x * width + i];
}

extern "C" void moedispatch(const float* token, const int* expert, float* packed, int* place, int* count, int tokens,
                            int width, int experts)
{
    if (tokens <= 0 || width <= 0 || experts <= 0)
        return;
    const size_t many = (size_t)tokens * width;
    cudaMemsetAsync(count, 0, (size_t)experts * sizeof(int), 0);
    count_tokens<<<(tokens + 255) / 256, 256>>>(expert, count, tokens, experts);
    place_tokens<<<experts, 256>>>(expert, count, place, tokens, experts);
    clear_rows<<<(unsigned)((many + 255) / 256), 256>>>(packed, many);
    copy_rows<<<tokens, 128>>>(token, place, packed, width);
}
