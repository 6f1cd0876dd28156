// A day of an epidemic among agents (0 susceptible, 1 infectious, 2 recovered), each of them at one place that day. Places count
// their infectious visitors; the risk of a visitor, in thousandths, grows with them. Draws come from a hash of agent and day.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned draw(unsigned agent, unsigned day)
{
    unsigned h = agent * 0x9e3779b1u ^ (day + 0x7f4a7c15u) * 0x85ebca6bu;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

__device__ __forceinline__ unsigned char next(unsigned char state, int place, const int* infectious, int places, int chance,
                                              unsigned h)
{
    if (state == 0 && place >= 0 && place < places) {
        const long long risk = (long long)chance * infectious[place];
        return h % 1000 < min(max(risk, 0LL), 1000LL) ? 1 : 0;
    }
    return state == 1 && h / 1024 % 100 < 15 ? 2 : state;
}

__global__ void census(const unsigned char* state, const int* place, int* infectious, int agents, int places)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool ill = i < agents && state[i] == 1 && place[i] >= 0 && place[i] < places;
    const int where = ill ? place[i] : -1;
    // Those of a warp at one place are counted with one atomic.
    const unsigned peers = __match_any_sync(0xffffffffu, where);
    if (ill && (threadIdx.x & 31) == __ffs(peers) - 1) {
        atomicAdd(infectious + where, __popc(peers));
    }
}

__global__ void spread(unsigned char* state, const int* place, const int* infectious, int agents, int places, int chance, int day)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < agents) {
        state[i] = next(state[i], place[i], infectious, places, chance, draw((unsigned)i, day));
    }
}

extern "C" void outbreak(unsigned char* state, const int* place, int* infectious, int agents, int places, int chance, int day)
{
    cudaMemsetAsync(infectious, 0, sizeof(int) * (size_t)places);
    const unsigned blocks = (unsigned)((agents + 255LL) / 256);
    census<<<blocks, 256>>>(state, place, infectious, agents, places);
    spread<<<blocks, 256>>>(state, place, infectious, agents, places, chance, day);
}
