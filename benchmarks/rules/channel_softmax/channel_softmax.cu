// Softmax over the channels of images that are stored channel by channel.
__global__ void channel_softmax(const float *in, float *out, int n, int channels, int plane)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n * plane) {
        const int b = index / plane, p = index % plane;
        const float *x = in + b * channels * plane + p;
        float most = -1e30f, total = 0;
        for (int c = 0; c < channels; ++c)
            most = fmaxf(most, x[c * plane]);
        for (int c = 0; c < channels; ++c)
            total += expf(x[c * plane] - most);
        for (int c = 0; c < channels; ++c)
            out[(b * channels + c) * plane + p] = expf(x[c * plane] - most) / total;
    }
}
