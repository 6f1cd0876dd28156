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

// 0: the first player won, 1: the second, 2: not finished, or both ran out in the same fight
__global__ void play(int* length, int* ties, int* outcome, int games, int limit, int seed)
{
    int game = blockIdx.x * blockDim.x + threadIdx.x;
    if (game >= games) return;
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
    unsigned char a[64], b[64];
    for (int i = 0; i < 26; ++i) {
        a[i] = pack[i];
        b[i] = pack[26 + i];
    }
    int heada = 0, headb = 0, na = 26, nb = 26, rounds = 0, fights = 0;
    int over = -1;
    while (over < 0 && rounds < limit) {
        ++rounds;
        int np = 0;
        for (;;) {
            unsigned char ca = a[heada], cb = b[headb];
            heada = (heada + 1) & 63;
            headb = (headb + 1) & 63;
            --na;
            --nb;
            np += 2;
            if (ca > cb) {
                for (int i = np / 2; i > 0; --i) {
                    unsigned char own = a[(heada - i) & 63], won = b[(headb - i) & 63];
                    a[(heada + na++) & 63] = own;
                    a[(heada + na++) & 63] = won;
                }
                break;
            }
            if (cb > ca) {
                for (int i = np / 2; i > 0; --i) {
                    unsigned char won = a[(heada - i) & 63], own = b[(headb - i) & 63];
                    b[(headb + nb++) & 63] = won;
                    b[(headb + nb++) & 63] = own;
                }
                break;
            }
            ++fights;
            if (na < 2 || nb < 2) {
                over = na > nb ? 0 : na < nb ? 1 : 2;
                break;
            }
            np += 2;
            heada = (heada + 1) & 63;
            headb = (headb + 1) & 63;
            --na;
            --nb;
        }
        if (over < 0 && na == 0) over = 1;
        if (over < 0 && nb == 0) over = 0;
    }
    length[game] = rounds;
    ties[game] = fights;
    outcome[game] = over < 0 ? 2 : over;
}

__global__ void tally(const int* length, const int* ties, const int* outcome, Summary* sum,
                      unsigned long long* longest, int* hist, int games)
{
    int game = blockIdx.x * blockDim.x + threadIdx.x;
    if (game >= games) return;
    int rounds = length[game];
    atomicAdd(&sum->rounds, (unsigned long long)rounds);
    atomicAdd(&sum->ties, (unsigned long long)ties[game]);
    int who = outcome[game];
    atomicAdd(who == 0 ? &sum->first : who == 1 ? &sum->second : &sum->unfinished, 1);
    atomicAdd(&hist[min(rounds / 32, 63)], 1);
    // of the longest the first
    atomicMax(longest, (unsigned long long)rounds << 32 | (0xffffffffu - (unsigned)game));
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
    int *length, *ties, *outcome, *hist;
    Summary* sum;
    unsigned long long* longest;
    cudaMalloc(&length, games * sizeof(int));
    cudaMalloc(&ties, games * sizeof(int));
    cudaMalloc(&outcome, games * sizeof(int));
    cudaMalloc(&hist, 64 * sizeof(int));
    cudaMalloc(&sum, sizeof(Summary));
    cudaMalloc(&longest, sizeof(unsigned long long));
    cudaMemset(hist, 0, 64 * sizeof(int));
    cudaMemset(sum, 0, sizeof(Summary));
    cudaMemset(longest, 0, sizeof(unsigned long long));
    play<<<(games + 63) / 64, 64>>>(length, ties, outcome, games, limit, seed);
    tally<<<(games + 255) / 256, 256>>>(length, ties, outcome, sum, longest, hist, games);
    name_longest<<<1, 1>>>(longest, sum);
    Summary got;
    int bins[64];
    cudaMemcpy(&got, sum, sizeof(Summary), cudaMemcpyDeviceToHost);
    cudaMemcpy(bins, hist, sizeof(bins), cudaMemcpyDeviceToHost);
    printf("first %d second %d unfinished %d\n", got.first, got.second, got.unfinished);
    printf("rounds %llu ties %llu longest %d game %d\n", got.rounds, got.ties, got.longest, got.longest_game);
    for (int i = 0; i < 64; ++i)
        if (bins[i]) printf("%d: %d\n", i * 32, bins[i]);
    cudaFree(length);
    cudaFree(ties);
    cudaFree(outcome);
    cudaFree(hist);
    cudaFree(sum);
    cudaFree(longest);
    return 0;
}
