// CUPTI's callbacks as far as a capture asks for them; the fake driver reports its launches here.
#include <stdint.h>

#include <set>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct Data {
  int site;
  const char *function;
  const void *params;
  void *result;
  const char *symbol;
  void *context;
  uint32_t contextId;
  uint64_t *correlation;
  uint32_t correlationId;
};
using Callback = void (*)(void *, int, uint32_t, const Data *);

namespace {
Callback callback = nullptr;
std::set<unsigned> enabled;
}  // namespace

EXPORT int cuptiSubscribe(void **subscriber, Callback wanted, void *) {
  if (callback) return 39;
  callback = wanted;
  *subscriber = &callback;
  return 0;
}
EXPORT int cuptiEnableCallback(uint32_t on, void *, int domain, uint32_t id) {
  if (domain != 1) return 1;
  if (on) enabled.insert(id);
  return 0;
}
EXPORT void fakeReport(int site, unsigned id, const char *function, const void *params, int *result,
                       const char *symbol, uint64_t *correlation) {
  if (!callback || !enabled.count(id)) return;
  const Data data{site, function, params, result, symbol, nullptr, 1, correlation, 7};
  callback(nullptr, 1, id, &data);
}
