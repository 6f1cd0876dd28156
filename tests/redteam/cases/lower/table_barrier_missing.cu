__global__ void lower(const unsigned char* in, unsigned char* out, int n) {
    __shared__ unsigned char to[256];
    int c = threadIdx.x;
    to[c] = c >= 'A' && c <= 'Z' ? c + 32 : c;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = to[in[i]];
}
