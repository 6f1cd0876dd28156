"""A few layers of a model whose normalisation is a CUDA extension.

`model.py --build` compiles the extension, `--plain` with nvcc alone, called through ctypes.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"

Normalize = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]


def extension() -> Normalize:
    """Build and load it as PyTorch's own extensions are."""
    from torch.utils import cpp_extension

    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")  # noqa: TID251 - it reads it there
    BUILD.mkdir(exist_ok=True)
    sources = [str(HERE / "binding.cpp"), str(HERE / "rms_norm.cu")]
    module = cpp_extension.load("rms_norm_ext", sources, build_directory=str(BUILD))
    function: Normalize = module.rms_norm
    return function


def plain() -> Normalize:
    """Build it without PyTorch's headers."""
    target = BUILD / "librms_norm.so"
    if not target.exists():
        BUILD.mkdir(exist_ok=True)
        flags = ["-O3", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC"]
        subprocess.run(["nvcc", *flags, "-o", target, HERE / "rms_norm.cu"], check=True)
    launch = ctypes.CDLL(str(target)).launch_rms_norm
    pointer, number = ctypes.c_void_p, ctypes.c_int
    launch.argtypes = [pointer, pointer, pointer, number, number, ctypes.c_float, pointer]
    launch.restype = None

    def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        y = torch.empty_like(x)
        rows, dim = x.numel() // x.shape[-1], x.shape[-1]
        stream = torch.cuda.current_stream().cuda_stream
        launch(x.data_ptr(), weight.data_ptr(), y.data_ptr(), rows, dim, eps, stream)
        return y

    return rms_norm


def main() -> int:
    """Run the layers; return 0 where the last normalisation is right."""
    rms_norm = plain() if "--plain" in sys.argv else extension()
    if "--build" in sys.argv:
        return 0
    torch.manual_seed(0)
    rows, dim = 8192, 1024
    x = torch.randn(rows, dim, device="cuda")
    layers = [torch.nn.Linear(dim, dim, bias=False, device="cuda") for _ in range(3)]
    weights = [torch.rand(dim, device="cuda") + 0.5 for _ in layers]
    with torch.no_grad():
        for layer, weight in zip(layers, weights, strict=True):
            x = x + torch.nn.functional.silu(layer(rms_norm(x, weight, 1e-6)))
        tail = rms_norm(x[: rows // 2].contiguous(), weights[0], 1e-6)
        wanted = x[: rows // 2] * torch.rsqrt(x[: rows // 2].pow(2).mean(-1, keepdim=True) + 1e-6)
        worst = (tail - wanted * weights[0]).abs().max().item()
    torch.cuda.synchronize()
    print(f"{len(layers)} layers, largest error {worst:.2e}")  # noqa: T201
    return 0 if worst < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
