// Sums of values by their keys; keys outside are left out.
__global__ void tally(const int* key, const int* value, int* sum, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = key[i];
    if (k >= 0 && k < bins) atomicAdd(&sum[k], value[i]);
}
