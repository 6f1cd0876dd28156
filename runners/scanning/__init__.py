"""What passes over outputs in the host's memory, in C++: numpy passes over them thirty times."""
