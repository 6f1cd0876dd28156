// im2col: unfold the patches of a batch of images into a matrix, so that a convolution becomes a
// matrix product. Output layout: [batch][channels * ksize * ksize][out_h * out_w].
#include <cuda_runtime.h>

__global__ void im2col_kernel(const float* images, float* columns, size_t total, int channels,
                              int height, int width, int ksize, int pad, int stride, int out_h,
                              int out_w)
{
    size_t index = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (index >= total) return;

    // which output element is this?
    size_t ow = index % out_w;
    size_t oh = index / out_w % out_h;
    size_t kx = index / out_w / out_h % ksize;
    size_t ky = index / out_w / out_h / ksize % ksize;
    size_t c = index / out_w / out_h / ksize / ksize % channels;
    size_t b = index / out_w / out_h / ksize / ksize / channels;

    // and which pixel does it come from?
    long iy = (long)(oh * stride + ky) - pad;
    long ix = (long)(ow * stride + kx) - pad;

    float value = 0.0f;
    if (iy >= 0 && iy < height && ix >= 0 && ix < width) {
        value = images[((b * channels + c) * height + iy) * width + ix];
    }
    columns[index] = value;
}

void im2col(const float* images, float* columns, int batch, int channels, int height, int width,
            int ksize, int pad, int stride, cudaStream_t stream)
{
    int out_h = (height + 2 * pad - ksize) / stride + 1;
    int out_w = (width + 2 * pad - ksize) / stride + 1;
    size_t total = (size_t)batch * channels * ksize * ksize * out_h * out_w;
    int threads = 128;
    int blocks = (int)((total + threads - 1) / threads);
    im2col_kernel<<<blocks, threads, 0, stream>>>(images, columns, total, channels, height, width,
                                                  ksize, pad, stride, out_h, out_w);
}
