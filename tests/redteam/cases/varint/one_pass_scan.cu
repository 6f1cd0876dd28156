// Decodes a stream of zigzag varints, as protocol buffers store sint64.
// Bytes with their high bit set go on, one without it ends a number; the low seven bits of each are the number's
// digits, the least first. Of numbers with more than ten bytes the low 64 bits count. A number that the stream's end
// cuts off is none. values[k] is the k-th number for k < *count, and 0 from there to n.

#include <cuda_runtime.h>

#define BLOCK 256

// How many numbers end in each block of bytes.
__global__ void count_ends(const unsigned char *__restrict__ bytes, int *__restrict__ ends, int n)
{
    __shared__ int partial[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    partial[threadIdx.x] = i < n && bytes[i] < 128;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        ends[blockIdx.x] = partial[0];
}

// Makes of the counts how many ended before each block, and of all of them *count. One block.
__global__ void scan_ends(int *__restrict__ ends, int *__restrict__ count, int blocks)
{
    __shared__ int of_warp[32];
    const int most = 32;
    int per = min((blocks + 1023) / 1024, most);
    int begin = threadIdx.x * per;
    int own[most];
    int sum = 0;
#pragma unroll
    for (int k = 0; k < most; ++k) {
        own[k] = k < per && begin + k < blocks ? ends[begin + k] : 0;
        sum += own[k];
    }
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    int up_to = sum;
    for (int step = 1; step < 32; step *= 2) {
        int add = __shfl_up_sync(0xffffffffu, up_to, step);
        up_to += lane >= step ? add : 0;
    }
    if (lane == 31)
        of_warp[warp] = up_to;
    __syncthreads();
    int before = up_to - sum;
    for (int w = 0; w < warp; ++w)
        before += of_warp[w];
    if (threadIdx.x == 1023)
        *count = before + sum;
#pragma unroll
    for (int k = 0; k < most; ++k) {
        if (k < per && begin + k < blocks)
            ends[begin + k] = before;
        before += own[k];
    }
}

// Decodes the numbers that begin in each block.
__global__ void decode(const unsigned char *__restrict__ bytes, const int *__restrict__ ends,
                       const int *__restrict__ count, long long *__restrict__ values, int n)
{
    __shared__ int sums[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int own = i < n && bytes[i] < 128;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        int add = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += add;
        __syncthreads();
    }
    if (i >= n || (i > 0 && bytes[i - 1] >= 128))
        return;
    int k = ends[blockIdx.x] + sums[threadIdx.x] - own;
    if (k >= *count)
        return;
    unsigned long long number = 0;
    for (int digit = 0; digit < 10 && i + digit < n; ++digit) {
        unsigned long long byte = bytes[i + digit];
        number |= (byte & 127) << (7 * digit);
        if (byte < 128)
            break;
    }
    values[k] = (long long)(number >> 1) ^ -(long long)(number & 1);
}

__global__ void clear_rest(const int *__restrict__ count, long long *__restrict__ values, int n)
{
    int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < n && k >= *count)
        values[k] = 0;
}

void varint(const unsigned char *bytes, long long *values, int *count, int n)
{
    int blocks = (n + BLOCK - 1) / BLOCK;
    int *ends;
    cudaMallocAsync(&ends, blocks * sizeof(int), 0);
    count_ends<<<blocks, BLOCK>>>(bytes, ends, n);
    scan_ends<<<1, 1024>>>(ends, count, blocks);
    decode<<<blocks, BLOCK>>>(bytes, ends, count, values, n);
    clear_rest<<<blocks, BLOCK>>>(count, values, n);
    cudaFreeAsync(ends, 0);
}
