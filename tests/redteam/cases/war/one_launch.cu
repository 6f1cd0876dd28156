#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Plays many games of War with shuffled packs: who shows the higher rank takes both, the first player's card
// before the other; equal ranks are fought out over one card face down and one face up each. Prints who won and
// how long it took.
struct Summary {
    unsigned long long rounds, ties;
    int first, second, unfinished;
    int longest, longest_game;
    int reserved;
};

__device__ unsigned next_random(unsigned long long& state)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned word = (unsigned)(state >> 32);
    word ^= word >> 15;
    word *= 0x2c1b3c6du;
    return word ^ word >> 12;
}

// adds up what the games of a block of 64 came to
__device__ void fights_of_block(Summary* sum, unsigned long long* longest, int* hist, int rounds, int fights,
                                int over, bool playing, int game)
{
    __shared__ int bins[64];
    __shared__ unsigned long long top;
    __shared__ int parts[5];
    bins[threadIdx.x] = 0;
    if (threadIdx.x < 5) parts[threadIdx.x] = 0;
    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    if (playing) {
        atomicAdd(&parts[over < 0 ? 2 : over], 1);
        atomicAdd(&bins[min(rounds / 32, 63)], 1);
        atomicMax(&top, (unsigned long long)rounds << 32 | (0xffffffffu - (unsigned)game));
    }
    int r = __reduce_add_sync(0xffffffffu, rounds);
    int f = __reduce_add_sync(0xffffffffu, fights);
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&parts[3], r);
        atomicAdd(&parts[4], f);
    }
    __syncthreads();
    if (bins[threadIdx.x]) atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);
    if (threadIdx.x == 0) {
        atomicAdd(&sum->first, parts[0]);
        atomicAdd(&sum->second, parts[1]);
        atomicAdd(&sum->unfinished, parts[2]);
        atomicAdd(&sum->rounds, (unsigned long long)parts[3]);
        atomicAdd(&sum->ties, (unsigned long long)parts[4]);
        atomicMax(longest, top);
    }
}

// 0: the first player won, 1: the second, 2: not finished, or both ran out in the same fight
__global__ void play(Summary* sum, unsigned long long* longest, int* hist, int games, int limit, int seed)
{
    int game = blockIdx.x * blockDim.x + threadIdx.x;
    bool playing = game < games;
    unsigned long long state = ((unsigned long long)(unsigned)seed << 32) + (unsigned)game;
    next_random(state);
    unsigned char pack[52];
    for (int i = 0; i < 52; ++i) pack[i] = (unsigned char)(i % 13);
    for (int i = 51; i > 0; --i) {
        int j = (int)(next_random(state) % (unsigned)(i + 1));
        unsigned char kept = pack[i];
        pack[i] = pack[j];
        pack[j] = kept;
    }
    unsigned char a[64], b[64], pile[52];
    for (int i = 0; i < 26; ++i) {
        a[i] = pack[i];
        b[i] = pack[26 + i];
    }
    int heada = 0, headb = 0, na = 26, nb = 26, rounds = 0, fights = 0;
    int over = -1;
    while (playing && over < 0 && rounds < limit) {
        ++rounds;
        int np = 0;
        for (;;) {
            unsigned char ca = a[heada], cb = b[headb];
            heada = (heada + 1) & 63;
            headb = (headb + 1) & 63;
            --na;
            --nb;
            pile[np++] = ca;
            pile[np++] = cb;
            if (ca > cb) {
                for (int i = 0; i < np; ++i) a[(heada + na++) & 63] = pile[i];
                break;
            }
            if (cb > ca) {
                for (int i = 0; i < np; ++i) b[(headb + nb++) & 63] = pile[i];
                break;
            }
            ++fights;
            if (na < 2 || nb < 2) {
                over = na > nb ? 0 : na < nb ? 1 : 2;
                break;
            }
            pile[np++] = a[heada];
            pile[np++] = b[headb];
            heada = (heada + 1) & 63;
            headb = (headb + 1) & 63;
            --na;
            --nb;
        }
        if (over < 0 && na == 0) over = 1;
        if (over < 0 && nb == 0) over = 0;
    }
    fights_of_block(sum, longest, hist, playing ? rounds : 0, playing ? fights : 0, over, playing, game);
}

__global__ void name_longest(const unsigned long long* longest, Summary* sum)
{
    sum->longest = (int)(*longest >> 32);
    sum->longest_game = (int)(0xffffffffu - (unsigned)*longest);
}

int main(int argc, char** argv)
{
    int games = argc > 1 ? atoi(argv[1]) : 20000;
    int limit = argc > 2 ? atoi(argv[2]) : 1000;
    int seed = argc > 3 ? atoi(argv[3]) : 1;
    if (games < 1 || limit < 0) return 1;
    int* hist;
    Summary* sum;
    unsigned long long* longest;
    cudaMalloc(&hist, 64 * sizeof(int));
    cudaMalloc(&sum, sizeof(Summary));
    cudaMalloc(&longest, sizeof(unsigned long long));
    cudaMemset(hist, 0, 64 * sizeof(int));
    cudaMemset(sum, 0, sizeof(Summary));
    cudaMemset(longest, 0, sizeof(unsigned long long));
    play<<<(games + 63) / 64, 64>>>(sum, longest, hist, games, limit, seed);
    name_longest<<<1, 1>>>(longest, sum);
    Summary got;
    int bins[64];
    cudaMemcpy(&got, sum, sizeof(Summary), cudaMemcpyDeviceToHost);
    cudaMemcpy(bins, hist, sizeof(bins), cudaMemcpyDeviceToHost);
    printf("first %d second %d unfinished %d\n", got.first, got.second, got.unfinished);
    printf("rounds %llu ties %llu longest %d game %d\n", got.rounds, got.ties, got.longest, got.longest_game);
    for (int i = 0; i < 64; ++i)
        if (bins[i]) printf("%d: %d\n", i * 32, bins[i]);
    cudaFree(hist);
    cudaFree(sum);
    cudaFree(longest);
    return 0;
}
