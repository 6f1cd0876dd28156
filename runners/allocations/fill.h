// Memory that is handed out holds what nobody means, while that is asked for.
#pragma once

#include <cstddef>

namespace optiml {

// Fill memory of the device, and have that done before anybody is handed it.
void fill_device(void *memory, size_t bytes);

// Fill memory of the device in the order of a stream; not where the stream is recorded.
void fill_behind(void *stream, void *memory, size_t bytes);

void fill_host(void *memory, size_t bytes);

}  // namespace optiml
