__global__ void lower(const unsigned char* in, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char c = in[i];
    out[i] = c >= 'A' && c <= 'Z' ? c + 32 : c;
}
