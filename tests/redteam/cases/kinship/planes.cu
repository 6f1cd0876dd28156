// Pairwise identity by state of genotyped individuals, and everyone's nearest relative.
// A genotype is 0, 1 or 2 copies of the minor allele, or -1 where the marker was not called.
#include <cuda_runtime.h>
#include <cstdint>

#define SIDE 16
#define SPAN 16

// One bit a marker: called, one copy, two copies. 32 markers a word, the last word filled up with "not called".
__global__ void planes_kernel(const int8_t* __restrict__ geno, unsigned* __restrict__ planes, int n, int s, int words)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t all = (size_t)n * words;
    if (at >= all) return;
    int i = (int)(at / words), w = (int)(at % words);
    const int8_t* g = geno + (size_t)i * s + (size_t)w * 32;
    int count = min(32, s - w * 32);
    unsigned called = 0, one = 0, two = 0;
    for (int b = 0; b < count; ++b) {
        int v = g[b];
        called |= (unsigned)(v >= 0) << b;
        one |= (unsigned)(v == 1) << b;
        two |= (unsigned)(v == 2) << b;
    }
    planes[at] = called;
    planes[all + at] = one;
    planes[2 * all + at] = two;
}

__global__ void pairs_kernel(const unsigned* __restrict__ planes, int* __restrict__ common,
                             int* __restrict__ apart, float* __restrict__ score, int n, int words)
{
    __shared__ unsigned left[3][SIDE][SPAN + 1];
    __shared__ unsigned right[3][SIDE][SPAN + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    size_t all = (size_t)n * words;
    int both = 0, far = 0;
    for (int first = 0; first < words; first += SPAN) {
        for (int p = 0; p < 3; ++p) {
            bool in = first + tx < words;
            left[p][ty][tx] = in && row0 + ty < n ? planes[p * all + (size_t)(row0 + ty) * words + first + tx] : 0u;
            right[p][ty][tx] = in && col0 + ty < n ? planes[p * all + (size_t)(col0 + ty) * words + first + tx] : 0u;
        }
        __syncthreads();
        for (int w = 0; w < SPAN; ++w) {
            unsigned seen = left[0][ty][w] & right[0][tx][w];
            unsigned odd = left[1][ty][w] ^ right[1][tx][w];       // exactly one of them heterozygous: 1 apart
            unsigned ends = left[2][ty][w] ^ right[2][tx][w];      // neither heterozygous, one of them 2: 2 apart
            both += __popc(seen);
            far += __popc(seen & odd) + 2 * __popc(seen & ends & ~odd & ~left[1][ty][w]);
        }
        __syncthreads();
    }
    int i = row0 + ty, j = col0 + tx;
    if (i < n && j < n) {
        size_t at = (size_t)i * n + j;
        common[at] = both;
        apart[at] = far;
        score[at] = both > 0 ? 1.0f - (float)far / (float)(2 * both) : 0.0f;
    }
}

// Is a at distance da over sa markers nearer than b at db over sb? Equal: the lower index.
__device__ bool nearer(int da, int sa, int a, int db, int sb, int b)
{
    if (a < 0) return false;
    if (b < 0) return true;
    long long l = (long long)da * sb, r = (long long)db * sa;
    return l < r || (l == r && a < b);
}

__global__ void nearest_kernel(const int* __restrict__ common, const int* __restrict__ apart,
                               int* __restrict__ nearest, int n)
{
    __shared__ int sd[128], ss[128], sj[128];
    int i = blockIdx.x, t = threadIdx.x;
    int d = 0, s = 1, best = -1;
    for (int j = t; j < n; j += 128) {
        size_t at = (size_t)i * n + j;
        if (j != i && common[at] > 0 && nearer(apart[at], common[at], j, d, s, best)) {
            d = apart[at];
            s = common[at];
            best = j;
        }
    }
    sd[t] = d; ss[t] = s; sj[t] = best;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (t < half && nearer(sd[t + half], ss[t + half], sj[t + half], sd[t], ss[t], sj[t])) {
            sd[t] = sd[t + half];
            ss[t] = ss[t + half];
            sj[t] = sj[t + half];
        }
        __syncthreads();
    }
    if (t == 0) nearest[i] = sj[0];
}

static unsigned* planes = nullptr;
static int held_n = 0, held_words = 0;

extern "C" void kinship(const int8_t* geno, int* common, int* apart, float* score, int* nearest, int n, int s)
{
    int words = (s + 31) / 32;
    if (n > held_n || words > held_words) {
        if (planes) cudaFree(planes);
        cudaMalloc(&planes, (size_t)n * words * 3 * sizeof(unsigned));
        held_n = n;
        held_words = words;
    }
    size_t all = (size_t)n * words;
    planes_kernel<<<(unsigned)((all + 255) / 256), 256>>>(geno, planes, n, s, words);
    dim3 grid((n + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE), block(SIDE, SIDE);
    pairs_kernel<<<grid, block>>>(planes, common, apart, score, n, words);
    nearest_kernel<<<n, 128>>>(common, apart, nearest, n);
}
