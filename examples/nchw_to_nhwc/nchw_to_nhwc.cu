// Reorder a batch of feature maps from NCHW (training framework) to NHWC (inference engine).
// One thread per element; neighbouring threads write neighbouring channels.

__global__ void nchw_to_nhwc(const float* __restrict__ in, float* __restrict__ out, int batch,
                             int channels, int height, int width)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = batch * channels * height * width;
    if (idx >= total) return;

    // position in the output
    int c = idx % channels;
    int w = (idx / channels) % width;
    int h = (idx / (channels * width)) % height;
    int n = idx / (channels * width * height);

    out[idx] = in[((n * channels + c) * height + h) * width + w];
}
