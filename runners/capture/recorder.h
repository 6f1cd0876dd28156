// What a capture does with a launch, however it came to know of it.
#pragma once
#include <string>

#include "driver.h"

struct Launch {
  Function function = nullptr;
  const char *symbol = nullptr;  // null: asked of the driver
  unsigned grid[3] = {}, block[3] = {}, shared = 0;
  Stream stream = nullptr;
  bool perThread = false;  // a null stream is the thread's own
  void **params = nullptr, **extra = nullptr;
  const char *kind = nullptr;  // why it cannot be captured; null when nothing is known against it
};

struct Taken;

// Reads the file that OPTIML_CAPTURE names; false when there is nothing to do in this process.
bool configure();
// The place of CUPTI's library, from that file.
const std::string &cuptiPath();
// Called before and after a launch on the thread that makes it. What `before` returns, null for
// nearly every launch, is handed to `after`.
Taken *before(const Launch &launch);
void after(Taken *taken, Result result);
// Handles of kernels were given back: the driver may give them to others.
void unloaded();
// Something was launched that names no kernel.
void refuse(const char *what);
// Words for whoever reads the capture.
void say(const char *what);
// The real function of the driver by its exported name.
void *driverFunction(const char *name);
// dlsym as the C library has it, whoever stands in front of it.
void *realSymbol(void *handle, const char *name);
