// Snapshot read of a table of rows with several versions.  Row r's newest version is head[r] % N (none if negative); the
// version before v lies delta[v] places lower (0: there is none).  A version is seen by a snapshot that is not older
// than begin and less than span after it (span 0: still open).  At most 64 versions of a row are looked at.
// seen: the version of each row or -1; list: the rows that have one, in order, then -1; found: how many;
// total and count: the sum of the values and the number of the seen versions of each of 64 groups.
#include <cuda_runtime.h>

#define GROUPS 64
#define HOPS 64

__device__ bool visible(const int* begin, const int* span, int v, int snap) {
    int b = begin[v], s = span[v];
    return b <= snap && (s == 0 || snap - b < s);
}

// Always looks at the next version along with this one; where there is none it looks at version 0 in vain.
__device__ int chase(const int* delta, const int* begin, const int* span, int v, int N, int snap) {
    if (v < 0) return -1;
    v %= N;
    for (int hop = 0; hop < HOPS; hop += 2) {
        int d = delta[v];
        int v1 = max(v - d, 0);
        int d1 = delta[v1];
        bool s0 = visible(begin, span, v, snap);
        bool s1 = visible(begin, span, v1, snap);
        if (s0) return v;
        if (d == 0 || d > v) return -1;
        if (s1) return v1;
        if (d1 == 0 || d1 > v1) return -1;
        v = v1 - d1;
    }
    return -1;
}

__global__ void find(const int* head, const int* delta, const int* begin, const int* span, const int* value,
                     const int* group, int* seen, int* tiles, long long* total, int* count, int R, int N, int snap) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    int v = r < R ? chase(delta, begin, span, head[r], N, snap) : -1;
    if (r < R) seen[r] = v;
    int many = __syncthreads_count(v >= 0);
    if (threadIdx.x == 0) tiles[blockIdx.x] = many;
    if (v >= 0) {
        atomicAdd((unsigned long long*)&total[group[v]], (unsigned long long)(long long)value[v]);
        atomicAdd(&count[group[v]], 1);
    }
}

// Exclusive scan of the tiles' counts by one block.
__global__ void scan(int* tiles, int* found, int many) {
    __shared__ int part[1024];
    int tid = threadIdx.x, carry = 0;
    for (int from = 0; from < many; from += 1024) {
        int i = from + tid;
        int own = i < many ? tiles[i] : 0;
        part[tid] = own;
        __syncthreads();
        for (int o = 1; o < 1024; o <<= 1) {
            int add = tid >= o ? part[tid - o] : 0;
            __syncthreads();
            part[tid] += add;
            __syncthreads();
        }
        if (i < many) tiles[i] = carry + part[tid] - own;
        carry += part[1023];
        __syncthreads();
    }
    if (tid == 0) *found = carry;
}

__global__ void emit(const int* seen, const int* tiles, int* list, int R) {
    __shared__ int warps[8];
    int r = blockIdx.x * 256 + threadIdx.x;
    bool in = r < R && seen[r] >= 0;
    unsigned who = __ballot_sync(0xffffffffu, in);
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    if (lane == 0) warps[w] = __popc(who);
    __syncthreads();
    int at = tiles[blockIdx.x] + __popc(who & ((1u << lane) - 1));
    for (int k = 0; k < w; k++) at += warps[k];
    if (in) list[at] = r;
}

extern "C" void mvcc(const int* head, const int* delta, const int* begin, const int* span, const int* value,
                     const int* group, int* seen, int* list, int* found, long long* total, int* count, int R, int N,
                     int snap) {
    int many = (R + 255) / 256;
    int* tiles;
    cudaMallocAsync(&tiles, many * sizeof(int), 0);
    cudaMemsetAsync(total, 0, GROUPS * sizeof(long long), 0);
    cudaMemsetAsync(count, 0, GROUPS * sizeof(int), 0);
    cudaMemsetAsync(list, 0xff, (size_t)R * sizeof(int), 0);
    find<<<many, 256>>>(head, delta, begin, span, value, group, seen, tiles, total, count, R, N, snap);
    scan<<<1, 1024>>>(tiles, found, many);
    emit<<<many, 256>>>(seen, tiles, list, R);
    cudaFreeAsync(tiles, 0);
}
