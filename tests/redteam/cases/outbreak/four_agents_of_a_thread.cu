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
    if (i < agents && state[i] == 1 && place[i] >= 0 && place[i] < places) {
        atomicAdd(infectious + place[i], 1);
    }
}

__global__ void spread(unsigned char* state, const int* place, const int* infectious, int agents, int places, int chance, int day)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const bool whole = (reinterpret_cast<size_t>(state) & 3) == 0 && (reinterpret_cast<size_t>(place) & 15) == 0;
    if (!whole) {
        if (i < agents) {
            state[i] = next(state[i], place[i], infectious, places, chance, draw((unsigned)i, day));
        }
        return;
    }
    // Four agents of a thread, in place; the last few go one by one.
    if (4 * i + 4 <= agents) {
        uchar4 s = reinterpret_cast<uchar4*>(state)[i];
        const int4 p = reinterpret_cast<const int4*>(place)[i];
        const unsigned first = (unsigned)(4 * i);
        s.x = next(s.x, p.x, infectious, places, chance, draw(first, day));
        s.y = next(s.y, p.y, infectious, places, chance, draw(first + 1, day));
        s.z = next(s.z, p.z, infectious, places, chance, draw(first + 2, day));
        s.w = next(s.w, p.w, infectious, places, chance, draw(first + 3, day));
        reinterpret_cast<uchar4*>(state)[i] = s;
    } else {
        for (long long k = 4 * i; k < agents; k++) {
            state[k] = next(state[k], place[k], infectious, places, chance, draw((unsigned)k, day));
        }
    }
}

extern "C" void outbreak(unsigned char* state, const int* place, int* infectious, int agents, int places, int chance, int day)
{
    cudaMemsetAsync(infectious, 0, sizeof(int) * (size_t)places);
    const unsigned blocks = (unsigned)((agents + 255LL) / 256);
    census<<<blocks, 256>>>(state, place, infectious, agents, places);
    spread<<<blocks, 256>>>(state, place, infectious, agents, places, chance, day);
}
