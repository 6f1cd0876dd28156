// Texture objects over pitched memory and over an array, 2D and 3D copies.
// VARIANT 2: reads the neighbour.
#include <cstdio>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void blur(cudaTextureObject_t t, cudaTextureObject_t u, float *out, size_t pitch, int w,
                     int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float *row = (float *)((char *)out + y * pitch);
  row[x] = 0.5f * tex2D<float>(t, x + 0.5f + (VARIANT == 2), y + 0.5f) + tex2D<float>(u, x + 0.5f, y + 0.5f);
}

int main() {
  const int w = 500, h = 300;
  std::vector<float> image(w * h), out(w * h);
  for (int i = 0; i < w * h; ++i) image[i] = i % 91;
  float *in, *result;
  size_t pitch, other;
  cudaMallocPitch(&in, &pitch, w * sizeof(float), h);
  cudaMallocPitch(&result, &other, w * sizeof(float), h);
  cudaMemcpy2D(in, pitch, image.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, w, h);
  cudaMemcpy2DToArray(array, 0, 0, image.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice);
  cudaResourceDesc flat = {}, block = {};
  flat.resType = cudaResourceTypePitch2D;
  flat.res.pitch2D = {in, format, (size_t)w, (size_t)h, pitch};
  block.resType = cudaResourceTypeArray;
  block.res.array.array = array;
  cudaTextureDesc how = {};
  cudaTextureObject_t t, u;
  cudaCreateTextureObject(&t, &flat, &how, nullptr);
  cudaCreateTextureObject(&u, &block, &how, nullptr);
  blur<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(t, u, result, other, w, h);
  cudaMemcpy2D(out.data(), w * 4, result, other, w * 4, h, cudaMemcpyDeviceToHost);
  printf("%f %f %s\n", out[5], out[w * h - 1], cudaGetErrorString(cudaGetLastError()));
}
