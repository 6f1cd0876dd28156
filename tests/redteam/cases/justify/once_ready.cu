// Greedy setting of paragraphs into lines of a given measure.
// Each paragraph has the same number of words; a word takes width[] columns and a single space parts two words of a line.
// A word goes on the current line if it still fits, else it begins the next one; a word wider than the measure gets a
// line to itself and hangs over. Written are the line of every word, the number of lines, and the raggedness: the sum
// over all lines but the last of the squared room left over (a line that hangs over leaves none).
#include <cuda_runtime.h>
#include <stddef.h>

// upto[i]: columns of the words 0..i, each with one space behind it
__global__ void upto_kernel(const int* width, int* upto, int words)
{
    __shared__ int sums[256];
    const int* w = width + (size_t)blockIdx.x * words;
    int* u = upto + (size_t)blockIdx.x * words;
    int t = threadIdx.x;
    int carry = 0;
    for (int first = 0; first < words; first += 256) {
        int i = first + t;
        sums[t] = i < words ? w[i] + 1 : 0;
        __syncthreads();
        for (int off = 1; off < 256; off <<= 1) {
            int add = t >= off ? sums[t - off] : 0;
            __syncthreads();
            sums[t] += add;
            __syncthreads();
        }
        if (i < words) u[i] = carry + sums[t];
        carry += sums[255];
        __syncthreads();
    }
}

// turn[i]: the word that begins the next line if word i begins one
__global__ void turn_kernel(const int* upto, int* turn, size_t total, int words, int measure)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= total) return;
    int i = (int)(at % words);
    const int* u = upto + (at - i);
    int before = i > 0 ? u[i - 1] : 0;
    int lo = i + 1, hi = words;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (u[mid] - before - 1 > measure) hi = mid;
        else lo = mid + 1;
    }
    turn[at] = lo;
}

__global__ void set_kernel(const int* upto, const int* turn, int* line, int* lines, long long* ragged,
                           int paras, int words, int measure)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* u = upto + (size_t)p * words;
    const int* n = turn + (size_t)p * words;
    int* out = line + (size_t)p * words;
    long long cost = 0;
    int count = 0;
    for (int i = 0; i < words;) {
        int next = n[i];
        for (int k = i; k < next; ++k) out[k] = count;
        if (next < words) {
            int used = u[next - 1] - (i > 0 ? u[i - 1] : 0) - 1;
            int left = measure - used;
            if (left > 0) cost += (long long)left * left;
        }
        ++count;
        i = next;
    }
    lines[p] = count;
    ragged[p] = cost;
}

// the word that begins the next line if word i begins one
static __device__ __forceinline__ int turn_of(const int* u, int i, int words, int measure)
{
    int before = i > 0 ? u[i - 1] : 0;
    int lo = i + 1, hi = words;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (u[mid] - before - 1 > measure) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

// inclusive sum over the 256 threads of the block
static __device__ __forceinline__ int scan_block(int mine, int* sums)
{
    int t = threadIdx.x;
    sums[t] = mine;
    __syncthreads();
    for (int off = 1; off < 256; off <<= 1) {
        int add = t >= off ? sums[t - off] : 0;
        __syncthreads();
        sums[t] += add;
        __syncthreads();
    }
    return sums[t];
}

#define LEAP_WORDS 16384
#define LEAP_BYTES 10       // per word: an int, two leaps of 16 bits, two marks

// A paragraph per block, all in shared memory. The beginnings of lines are found by doubling: with every round the
// marked words leap as many lines ahead as are marked already, and the leaps are joined to twice their length.
__global__ void leap_kernel(const int* width, int* line, int* lines, long long* ragged, int words, int measure)
{
    extern __shared__ int s_upto[];
    __shared__ int sums[256];
    __shared__ unsigned long long s_cost;
    unsigned short* leap = (unsigned short*)(s_upto + words);
    unsigned short* leap2 = leap + words;
    unsigned char* mark = (unsigned char*)(leap2 + words);
    unsigned char* mark2 = mark + words;
    const int* w = width + (size_t)blockIdx.x * words;
    int* out = line + (size_t)blockIdx.x * words;
    int t = threadIdx.x;

    if (t == 0) s_cost = 0;
    int carry = 0;
    for (int first = 0; first < words; first += 256) {
        int i = first + t;
        int sum = scan_block(i < words ? w[i] + 1 : 0, sums);
        if (i < words) s_upto[i] = carry + sum;
        carry += sums[255];
        __syncthreads();
    }
    for (int i = t; i < words; i += 256) {
        leap[i] = (unsigned short)turn_of(s_upto, i, words, measure);
        mark[i] = i == 0;
    }
    __syncthreads();
    for (int marked = 1; marked < words; marked *= 2) {
        for (int i = t; i < words; i += 256) mark2[i] = mark[i];
        __syncthreads();
        for (int i = t; i < words; i += 256) {
            int j = leap[i];
            if (mark[i] && j < words) mark2[j] = 1;
            leap2[i] = j < words ? leap[j] : (unsigned short)words;
        }
        __syncthreads();
        unsigned char* m = mark; mark = mark2; mark2 = m;
        unsigned short* l = leap; leap = leap2; leap2 = l;
    }
    carry = 0;
    unsigned long long cost = 0;
    for (int first = 0; first < words; first += 256) {
        int i = first + t;
        int begins = i < words ? mark[i] : 0;
        int sum = scan_block(begins, sums);
        if (i < words) out[i] = carry + sum - 1;
        carry += sums[255];
        if (begins) {
            int next = turn_of(s_upto, i, words, measure);
            if (next < words) {
                int left = measure - (s_upto[next - 1] - (i > 0 ? s_upto[i - 1] : 0) - 1);
                if (left > 0) cost += (unsigned long long)((long long)left * left);
            }
        }
        __syncthreads();
    }
    atomicAdd(&s_cost, cost);
    __syncthreads();
    if (t == 0) {
        lines[blockIdx.x] = carry;
        ragged[blockIdx.x] = (long long)s_cost;
    }
}

extern "C" void justify(const int* width, int* line, int* lines, long long* ragged, int paras, int words, int measure)
{
    if (words <= LEAP_WORDS) {
        int bytes = words * LEAP_BYTES;
        static bool ready = false;
        if (!ready) {
            // a property of the kernel, it stays with it for the life of the process
            cudaFuncSetAttribute(leap_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
            ready = true;
        }
        leap_kernel<<<paras, 256, bytes>>>(width, line, lines, ragged, words, measure);
        return;
    }
    static int* room = nullptr;
    static size_t held = 0;
    size_t total = (size_t)paras * words;
    if (total > held) {
        if (room) cudaFree(room);
        cudaMalloc((void**)&room, 2 * total * sizeof(int));
        held = total;
    }
    int* upto = room;
    int* turn = room + total;
    upto_kernel<<<paras, 256>>>(width, upto, words);
    turn_kernel<<<(unsigned)((total + 255) / 256), 256>>>(upto, turn, total, words, measure);
    set_kernel<<<(paras + 127) / 128, 128>>>(upto, turn, line, lines, ragged, paras, words, measure);
}
