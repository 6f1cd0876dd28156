"""From a description and a workload to a first kernel (OptiML-G, arXiv 2602.12305)."""
