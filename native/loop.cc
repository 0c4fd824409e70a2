// The one call that XLA makes for every kernel: a compiled loop past its arrays, on all threads; once, or for each row of
// a table, where it goes on with what it returned for the row before.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// `count` elements of every array; step 0 repeats the first element of an input.
using Loop = void(int64_t count, const char* const* in, const int64_t* step, char* const* out);

std::shared_mutex guard;
std::unordered_map<int64_t, Loop*> loops;

constexpr int64_t CHUNK = 1 << 13;  // elements that are worth another thread
constexpr int64_t TILE = 1 << 10;   // elements that stay in cache from row to row

// Work in pieces that threads take in turn. The caller takes part, so that it never waits for a pool that is busy.
struct Pieces {
  explicit Pieces(int64_t count) : count(count) {}
  const int64_t count;
  std::function<void(int64_t)> work;
  std::atomic<int64_t> next{0}, done{0};
  std::mutex lock;
  std::condition_variable all;

  void take() {
    for (int64_t i = next++; i < count; i = next++) {
      work(i);
      if (++done == count) {
        std::lock_guard<std::mutex> held(lock);
        all.notify_all();
      }
    }
  }
  void wait() {
    std::unique_lock<std::mutex> held(lock);
    all.wait(held, [&] { return done == count; });
  }
};

size_t bytes(ffi::DataType type) { return ffi::ByteWidth(type); }

// The first `columns` arguments have a number for each row: the first of these says which line of the arguments with
// several lines a row reads. Then come as many arguments as there are results, which are what the fold begins with.
ffi::Error Elementwise(ffi::ThreadPool pool, int64_t kernel, int64_t columns, ffi::RemainingArgs args,
                       ffi::RemainingRets rets) {
  Loop* loop;
  {
    std::shared_lock<std::shared_mutex> held(guard);
    auto found = loops.find(kernel);
    if (found == loops.end()) return ffi::Error::Internal("this process has not loaded the kernel");
    loop = found->second;
  }
  std::vector<const char*> in(args.size());
  std::vector<char*> out(rets.size());
  std::vector<int64_t> in_size(args.size()), out_size(rets.size()), counts(args.size()), lasts(args.size());
  int64_t total = 0, last = 1;
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = *rets.get<ffi::AnyBuffer>(i);
    out[i] = static_cast<char*>(buffer->untyped_data());
    out_size[i] = bytes(buffer->element_type());
    total = buffer->element_count();
    last = buffer->dimensions().back();
  }
  bool plain = !columns;
  for (size_t i = 0; i < args.size(); ++i) {
    auto buffer = *args.get<ffi::AnyBuffer>(i);
    in[i] = static_cast<const char*>(buffer.untyped_data());
    in_size[i] = bytes(buffer.element_type());
    counts[i] = buffer.element_count();
    lasts[i] = buffer.dimensions().back();
    plain = plain && (counts[i] == total || counts[i] == 1);
  }
  if (!total) return ffi::Error::Success();
  // Under vmap a number becomes one number a member: then the members are passed one by one.
  const int64_t members = plain ? 1 : total / last, length = plain ? total : last;
  const int64_t chunk = columns ? TILE : CHUNK, pieces = (length + chunk - 1) / chunk;
  const int64_t rows = columns ? counts[0] / members : 1;
  auto piece = [=](int64_t which) {
    const int64_t member = which / pieces, first = which % pieces * chunk, count = std::min(chunk, length - first);
    std::vector<const char*> from(in);
    std::vector<char*> to(out);
    std::vector<int64_t> step(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      step[i] = i >= size_t(columns) && (plain ? counts[i] : lasts[i]) == length && length > 1;
      from[i] += in_size[i] * (member * (counts[i] / members) + first * step[i]);
    }
    for (size_t i = 0; i < out.size(); ++i) to[i] += out_size[i] * (member * length + first);
    if (!columns) return loop(count, from.data(), step.data(), to.data());
    const auto lines = reinterpret_cast<const int32_t*>(from[0]);
    for (size_t i = 0; i < out.size(); ++i) std::memcpy(to[i], from[columns + i], count * out_size[i]);
    std::vector<const char*> row(from);
    std::copy(to.begin(), to.end(), row.begin() + columns);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 1; i < columns; ++i) row[i] = from[i] + r * in_size[i];
      for (size_t i = columns + out.size(); i < in.size(); ++i)
        if (counts[i] > total) row[i] = from[i] + lines[r] * length * in_size[i];
      loop(count, row.data() + 1, step.data() + 1, to.data());
    }
  };
  if (members * pieces == 1) {
    piece(0);
    return ffi::Error::Success();
  }
  auto shared = std::make_shared<Pieces>(members * pieces);
  shared->work = piece;
  const int64_t helpers = std::min<int64_t>(pool.num_threads(), members * pieces) - 1;
  if (total * rows >= 2 * CHUNK)
    for (int64_t i = 0; i < helpers; ++i) pool.Schedule([shared] { shared->take(); });
  shared->take();
  shared->wait();
  return ffi::Error::Success();
}

}  // namespace

extern "C" void traderbench_register(int64_t kernel, void* loop) {
  std::unique_lock<std::shared_mutex> held(guard);
  loops[kernel] = reinterpret_cast<Loop*>(loop);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    TraderbenchElementwise, Elementwise,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Attr<int64_t>("kernel").Attr<int64_t>("columns").RemainingArgs().RemainingRets());
