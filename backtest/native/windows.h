// The last values of a series: what backtest/indicators/streaming.py says, in a few operations a bar.
#pragma once
#include <vector>

#include "registers.h"

namespace backtest {

// Sum, greatest or least of the last `size` values. Values are kept in blocks of `size`: what is in the window is the tail
// of the block before and the head of this one. Tails are combined once a block, from its end; no value is ever taken
// out of a sum again, so nothing drifts.
template <typename V, V combine(V, V)> class Window {
 public:
  explicit Window(int size) : tail_(size), values_(size) {}

  void push(V value) {
    const int size = static_cast<int>(values_.size());
    values_[next_] = value;
    head_ = next_ ? combine(head_, value) : value;
    if (++next_ == size) {
      tail_[size - 1] = values_[size - 1];
      for (int i = size - 2; i >= 0; --i) tail_[i] = combine(values_[i], tail_[i + 1]);
      next_ = 0;
      full_ = true;
    }
  }
  bool full() const { return full_; }
  V result() const { return next_ ? combine(tail_[next_], head_) : tail_[0]; }  // once it is full
  const std::vector<V>& values() const { return values_; }  // in no particular order

 private:
  std::vector<V> tail_, values_;
  V head_{};
  int next_ = 0;
  bool full_ = false;
};

template <typename T> typename Lanes<T>::V plus(typename Lanes<T>::V a, typename Lanes<T>::V b) { return a + b; }
template <typename T> using Sum = Window<typename Lanes<T>::V, plus<T>>;
template <typename T> using Greatest = Window<typename Lanes<T>::V, Lanes<T>::max>;
template <typename T> using Least = Window<typename Lanes<T>::V, Lanes<T>::min>;

}  // namespace backtest
