#include <cstdint>

// Where a text's bytes come to stand: the column of each byte in its line, tabs going on to the next multiple of
// eight, bytes 0x80..0xbf (the later ones of a UTF-8 letter) taking no column, all others one. A line ends behind
// its newline. widest: the most columns that a line takes (without its newline).
#define STOP 8

__global__ void lay_out(const uint8_t* text, int* column, int* widest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (i > 0 && text[i - 1] != '\n')) return;
    // a line begins here
    int at = 0;
    for (; i < n; i++) {
        int b = text[i];
        column[i] = at;
        if (b == '\n') break;
        if (b == '\t')
            at = (at / STOP + 1) * STOP;
        else if (b < 0x80 || b > 0xbf)
            at++;
    }
    atomicMax(widest, at);
}

void tabulate(const uint8_t* text, int* column, int* widest, int n) {
    static cudaGraphExec_t recorded = nullptr;
    static int recorded_n = -1;
    static const uint8_t* recorded_text = nullptr;
    if (recorded_n != n || recorded_text != text) {
        if (recorded) cudaGraphExecDestroy(recorded);
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        cudaMemsetAsync(widest, 0, sizeof(int), stream);
        lay_out<<<(n + 255) / 256, 256, 0, stream>>>(text, column, widest, n);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&recorded, graph, 0);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        recorded_n = n;
        recorded_text = text;
    }
    cudaGraphLaunch(recorded, 0);
}
