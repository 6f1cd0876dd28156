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
    __shared__ int sums[1024];
    int before = 0;
    for (int begin = 0; begin < blocks; begin += 1024) {
        int b = begin + threadIdx.x;
        int own = b < blocks ? ends[b] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int step = 1; step < 1024; step *= 2) {
            int add = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += add;
            __syncthreads();
        }
        if (b < blocks)
            ends[b] = before + sums[threadIdx.x] - own;
        before += sums[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *count = before;
}

// Decodes the numbers that begin in each block.
__global__ void decode(const unsigned char *__restrict__ bytes, const int *__restrict__ ends,
                       const int *, long long *__restrict__ values, int n)
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
