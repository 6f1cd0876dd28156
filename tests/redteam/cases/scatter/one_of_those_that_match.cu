__global__ void scatter(const int* index, const float* value, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned same = __match_any_sync(__activemask(), index[i]);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(out + index[i], value[i] * __popc(same));
}
