"""A GPU that is emulated on a core of the host, as far as the answers of kernels go."""
