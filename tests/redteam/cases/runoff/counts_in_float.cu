#include <cstdint>

// Instant runoff among eight: each group of voters counts for the first of its five choices that is
// still in the race. Who has more than half of what is counted wins; else the last one goes: the one
// with the fewest voters, of these the one with the fewest in the first round, of these the last.
// One block for each election.
__global__ void runoff(const uint8_t* choice, const int* voters, int* winner, int groups) {
    __shared__ float count[8], first[8];
    __shared__ unsigned racing;
    __shared__ int won;
    const uint8_t* mine = choice + (size_t)blockIdx.x * groups * 5;
    const int* weight = voters + (size_t)blockIdx.x * groups;
    if (threadIdx.x == 0) { racing = 0xff; won = -1; }
    for (int round = 0; ; ++round) {
        if (threadIdx.x < 8) count[threadIdx.x] = 0;
        __syncthreads();
        if (won >= 0) break;
        for (int g = threadIdx.x; g < groups; g += blockDim.x)
            for (int c = 0; c < 5; ++c) {
                int who = mine[5 * g + c];
                if (racing >> who & 1) {
                    atomicAdd(&count[who], (float)weight[g]);
                    break;
                }
            }
        __syncthreads();
        if (threadIdx.x == 0) {
            double all = 0;
            int last = -1;
            for (int k = 0; k < 8; ++k) {
                if (round == 0) first[k] = count[k];
                all += count[k];
            }
            for (int k = 0; k < 8; ++k) {
                if (!(racing >> k & 1)) continue;
                if (2.0 * count[k] > all) won = k;
                if (last < 0 || count[k] < count[last] || (count[k] == count[last] && first[k] <= first[last])) last = k;
            }
            racing &= ~(1u << last);
            if (won < 0 && (racing & (racing - 1)) == 0) won = __ffs(racing) - 1;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) winner[blockIdx.x] = won;
}
