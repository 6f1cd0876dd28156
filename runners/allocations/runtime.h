// The CUDA runtime behind functions of ours that have the names of its own.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

namespace optiml {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported

// The runtime that is loaded already, by the name its callers were linked with.
inline void *runtime() {
  static void *const found = [] {
    for (const char *name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
      if (void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return handle;
    return static_cast<void *>(nullptr);
  }();
  return found;
}

inline void *find(const char *name) {
  void *const library = runtime();
  return dlsym(library ? library : RTLD_NEXT, name);
}

template <typename Function, typename... Arguments>
int call(const char *name, Arguments... arguments) {
  void *const found = find(name);
  return found ? reinterpret_cast<Function>(found)(arguments...) : kNotSupported;
}

}  // namespace optiml
