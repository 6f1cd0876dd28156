#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A tournament of the repeated prisoner's dilemma. A strategy is a table of 64 bits: the last three
// rounds, own and the other's moves, say whether to defect. After each generation the last quarter
// is replaced by changed copies of the first.
typedef unsigned long long word;

__host__ __device__ inline word mix(word x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

__device__ inline int move(word table, int history)
{
    return (int)(table >> history) & 1;
}

__global__ void play(const word* table, int* score, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y;
    if (i >= n || i == j) return;
    const int gain[4] = {3, 0, 5, 1};          // own move times two plus the other's
    word own = table[i];
    word other = table[j];
    int seen = 0;                               // the last three rounds from the one side
    int shown = 0;                              // and from the other
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
        int a = move(own, seen);
        int b = move(other, shown);
        sum += gain[2 * a + b];
        seen = (seen << 2 | 2 * a + b) & 63;
        shown = (shown << 2 | 2 * b + a) & 63;
    }
    atomicAdd(&score[i], sum);
}

__global__ void rank(const int* score, int* place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int before = 0;
    for (int j = 0; j < n; ++j)
        if (score[j] > score[i] || (score[j] == score[i] && j < i)) ++before;
    place[before] = i;
}

__global__ void breed(word* table, const int* place, int n, int generation)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = n - n / 4;
    if (p < kept || p >= n) return;
    word mine = table[place[p - kept]];
    word r = mix((word)generation << 32 | (unsigned)p);
    mine ^= 1ull << (r & 63);
    if (r >> 6 & 1) mine ^= 1ull << (r >> 7 & 63);
    table[place[p]] = mine;
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64;
    int rounds = argc > 2 ? atoi(argv[2]) : 100;
    int generations = argc > 3 ? atoi(argv[3]) : 5;
    if (n < 1 || rounds < 1 || generations < 1) return 2;

    std::vector<word> first(n);
    for (int i = 0; i < n; ++i) first[i] = mix(i + 12345);
    word* table;
    int *score, *place;
    cudaMalloc(&table, n * sizeof(word));
    cudaMalloc(&score, n * sizeof(int));
    cudaMalloc(&place, n * sizeof(int));
    cudaMemcpy(table, first.data(), n * sizeof(word), cudaMemcpyHostToDevice);

    std::vector<int> points(n);
    for (int g = 0; g < generations; ++g) {
        cudaMemset(score, 0, n * sizeof(int));
        dim3 grid((n + 127) / 128, n);
        play<<<grid, 128>>>(table, score, n, rounds);
        rank<<<(n + 127) / 128, 128>>>(score, place, n);
        breed<<<(n + 127) / 128, 128>>>(table, place, n, g);
        cudaMemcpy(points.data(), score, n * sizeof(int), cudaMemcpyDeviceToHost);
        long long sum = 0;
        int best = 0;
        for (int i = 0; i < n; ++i) {
            sum += points[i];
            if (points[i] > points[best]) best = i;
        }
        printf("generation %d: best %d with %d, all %lld\n", g, best, points[best], sum);
    }
    std::vector<word> last(n);
    cudaMemcpy(last.data(), table, n * sizeof(word), cudaMemcpyDeviceToHost);
    word sum = 0;
    for (int i = 0; i < n; ++i) sum = mix(sum ^ last[i]);
    printf("strategies %016llx\n", sum);
    cudaFree(table);
    cudaFree(score);
    cudaFree(place);
    return 0;
}
