// Scratch memory that is reused from step to step.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace omniphi {

// A stack of scratch memory. take() never moves what was handed out before; Mark gives memory back on leaving a scope.
// After the first steps have shown how much is needed, nothing is allocated any more.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Uninitialised memory for `count` values, aligned to 64 bytes, valid until the surrounding Mark ends.
  template <typename T>
  T* take(size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }

  // Largest number of bytes that were in use at a time.
  size_t high_water() const { return high_water_; }

  class Mark {
   public:
    explicit Mark(Workspace& workspace);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    Workspace& workspace_;
    size_t slab_, used_, in_use_;
  };

 private:
  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
    size_t used = 0;
  };

  void* take_bytes(size_t bytes);

  std::vector<Slab> slabs_;
  size_t current_ = 0;
  size_t in_use_ = 0;
  size_t high_water_ = 0;
};

}  // namespace omniphi
