"""Micro-profiling tools that turn counters into advice, one a file."""
