// The two calls that Python makes: bars past accounts with given orders, and whole episodes of the reference strategies.
#include <vector>

#include "account.h"
#include "candles.h"
#include "strategies.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using namespace backtest;

namespace {

template <ffi::DataType D> using In = ffi::Buffer<D, 2>;
using Candles = In<ffi::F64>;

// Orders of any kind, [bars, lanes]; stop and take may be null: no order has any.
template <typename T> struct Given {
  using B = Lanes<T>;
  using V = typename B::V;
  using M = typename B::M;
  const int32_t* kind;
  const T *size, *stop, *take;
  int64_t lanes, lane;

  void skip(int64_t bars) {
    kind += bars * lanes, size += bars * lanes;
    if (stop) stop += bars * lanes;
    if (take) take += bars * lanes;
  }

  template <typename Bars> void fill(Accounts<T>& a, const Bars& b, int64_t t, V open, M cancelled, const Costs<T>& c) const {
    const int64_t here = t * lanes + lane;
    typename B::K narrow;
    std::memcpy(&narrow, kind + here, sizeof narrow);
    const M kinds = __builtin_convertvector(narrow, M);
    if (B::any(kinds != HOLD)) a.order(kinds, B::load(size + here), open, b.volume(t), cancelled, c);
    if (!stop && !take) return;
    const V stops = stop ? B::load(stop + here) : B::nan(), takes = take ? B::load(take + here) : B::nan();
    if (B::any(B::given(stops) | B::given(takes))) a.place(stops, takes, open, cancelled);
  }
};

template <typename T, ffi::DataType D>
ffi::Error Advance(In<D> state, Candles open, Candles high, Candles low, Candles close, Candles volume, Candles funding,
                   Candles market_return, ffi::Buffer<ffi::S32, 2> kind, In<D> size, In<D> stop, In<D> take,
                   ffi::Buffer<D, 1> rules, ffi::Buffer<ffi::S32, 0> start, ffi::ResultBuffer<D, 2> out) {
  constexpr int W = WIDTH<T>;
  using C = Chunk<T>;
  const int64_t lanes = state.dimensions()[1], bars = kind.dimensions()[0], length = open.dimensions()[1];
  const int64_t markets = open.dimensions()[0], first = start.typed_data()[0];
  if (lanes < W) return ffi::Error::InvalidArgument("advance: fewer accounts than a vector register holds");
  if (state.dimensions()[0] != ROWS || (markets != lanes && markets != 1) || rules.dimensions()[0] != 8)
    return ffi::Error::InvalidArgument("advance: shapes do not fit each other");
  if (first < 0 || first + bars > length)
    return ffi::Error::InvalidArgument("advance: there are orders for bars that the market does not have");
  auto given = [](const auto& field) { return field.dimensions()[0] ? field.typed_data() : nullptr; };
  const double* returns = given(market_return);
  if (returns && markets != 1) return ffi::Error::InvalidArgument("advance: market_return is for one shared market");
  const double* const fields[] = {open.typed_data(),  high.typed_data(),   low.typed_data(),
                                  close.typed_data(), volume.typed_data(), funding.typed_data()};
  const Shared<T> shared{fields[0] + first, fields[1] + first, fields[2] + first, fields[3] + first,
                         fields[4] + first, fields[5] + first, returns ? returns + first : nullptr};
  const Costs<T> costs(rules.typed_data());
  const auto chunk = std::make_unique<C>();
  for (int64_t next = 0; next < lanes; next += W) {
    // The last block reaches back over accounts that were done already: the same once more, from the same start.
    const int64_t lane = next + W <= lanes ? next : lanes - W;
    Given<T> o{kind.typed_data(), size.typed_data(), given(stop), given(take), lanes, lane};
    Accounts<T> accounts;
    for (int r = 0; r < ROWS; ++r) accounts.row[r] = Lanes<T>::load(state.typed_data() + r * lanes + lane);
    if (markets == 1) accounts.pass(shared, o, 0, bars, costs);
    for (int64_t done = 0; markets != 1 && done < bars; done += CHUNK, o.skip(CHUNK)) {
      const int some = static_cast<int>(std::min<int64_t>(CHUNK, bars - done));
      const double* from[C::FIELDS];
      for (int f = 0; f < C::FIELDS; ++f) from[f] = fields[f] + lane * length;
      chunk->turn_all(from, length, W, first + done, some);
      accounts.pass(*chunk, o, 0, some, costs);
    }
    for (int r = 0; r < ROWS; ++r) Lanes<T>::store(out->typed_data() + r * lanes + lane, accounts.row[r]);
  }
  return ffi::Error::Success();
}

// What is kept of a strategy between two chunks.
template <typename T> struct Seat {
  std::unique_ptr<Strategy<T>> strategy;
  Accounts<T> accounts;
  // The order that waits at the next open.
  typename Lanes<T>::M asks{};
  typename Lanes<T>::V size{}, stop{};

  // Let order t wait, but where the one before is kept.
  void wait_for(const Orders<T>& o, int t, typename Lanes<T>::M kept) {
    asks = o.asks[t] | kept;
    size = Lanes<T>::pick(kept, size, o.size[t]);
    stop = Lanes<T>::pick(kept, stop, o.stop[t]);
  }
};

template <typename T, ffi::DataType D>
ffi::Error Episode(In<D> state, Candles open, Candles high, Candles low, Candles close, Candles volume, Candles funding,
                   Candles seen_high, Candles seen_low, Candles seen_close, Candles seen_funding,
                   ffi::Buffer<D, 1> rules, ffi::Buffer<ffi::F64, 2> program, ffi::Buffer<ffi::S32, 0> warm,
                   ffi::ResultBuffer<D, 3> out) {
  constexpr int W = WIDTH<T>;
  using C = Chunk<T>;
  const int64_t lanes = state.dimensions()[1], bars = close.dimensions()[1], count = program.dimensions()[0];
  const int64_t warmup = warm.typed_data()[0];
  if (state.dimensions()[0] != ROWS || close.dimensions()[0] != lanes || rules.dimensions()[0] != 8)
    return ffi::Error::InvalidArgument("episode: shapes do not fit each other");
  for (const Candles* each : {&open, &high, &low, &volume, &funding, &seen_high, &seen_low, &seen_close, &seen_funding})
    if (each->dimensions()[0] != lanes || each->dimensions()[1] != bars)
      return ffi::Error::InvalidArgument("episode: the fields of the markets differ in shape");
  if (warmup < 0 || warmup > bars) return ffi::Error::InvalidArgument("episode: warmup is longer than the market");
  const Costs<T> costs(rules.typed_data());
  const auto traded = std::make_unique<C>(), apart = std::make_unique<C>();
  const auto orders = std::make_unique<Orders<T>>();
  std::vector<Seat<T>> seats(count);
  auto one = [](const Candles& a, const Candles& b) { return a.typed_data() == b.typed_data(); };
  const bool same = one(seen_high, high) && one(seen_low, low) && one(seen_close, close) && one(seen_funding, funding);

  for (int64_t lane = 0; lane < lanes; lane += W) {
    const int width = static_cast<int>(std::min<int64_t>(W, lanes - lane));
    for (int64_t s = 0; s < count; ++s) {
      const double* row = program.typed_data() + s * program.dimensions()[1];
      Seat<T>& seat = seats[s];
      seat = Seat<T>{};
      seat.strategy = make<T>(static_cast<int>(row[0]), row + 2);
      if (!seat.strategy) return ffi::Error::InvalidArgument("episode: there is no strategy of this number");
      seat.strategy->stop = row[1];
      for (int r = 0; r < ROWS; ++r)
        for (int i = 0; i < W; ++i)
          seat.accounts.row[r][i] = state.typed_data()[r * lanes + lane + std::min(i, width - 1)];
    }
    for (int64_t first = 0; first < bars;) {
      const bool plays = first >= warmup;
      const int size = static_cast<int>(std::min<int64_t>(CHUNK, (plays ? bars : warmup) - first));
      auto row = [&](const Candles& field) { return field.typed_data() + lane * bars; };
      auto turn = [&](typename C::Field field, const Candles& from) {
        apart->turn(field, row(from), bars, width, first, size);
      };
      const C& seen = same ? *traded : *apart;
      if (plays || same)
        traded->turn_all({row(open), row(high), row(low), row(close), row(volume), row(funding)}, bars, width, first, size);
      if (!same) {
        turn(C::HIGH, seen_high);
        turn(C::LOW, seen_low);
        turn(C::CLOSE, seen_close);
        turn(C::FUNDING, seen_funding);
      }
      for (Seat<T>& seat : seats) {
        orders->stops = seat.strategy->stop == seat.strategy->stop;
        orders->asks[0] = seat.asks, orders->size[0] = seat.size, orders->stop[0] = seat.stop;
        seat.strategy->decide(seen, size, *orders);
        if (!plays) {
          for (int t = 0; t <= size; ++t) seat.wait_for(*orders, t, seat.asks & ~orders->asks[t]);
          continue;
        }
        seat.wait_for(*orders, size, typename Lanes<T>::M{});
        Accounts<T> accounts = seat.accounts;
        accounts.pass(*traded, *orders, 0, size, costs);
        seat.accounts = accounts;
      }
      first += size;
    }
    for (int64_t s = 0; s < count; ++s)
      for (int r = 0; r < ROWS; ++r)
        for (int i = 0; i < width; ++i) out->typed_data()[(s * ROWS + r) * lanes + lane + i] = seats[s].accounts.row[r][i];
  }
  return ffi::Error::Success();
}

}  // namespace

#define BIND_ADVANCE(D) \
  ffi::Ffi::Bind().Arg<In<D>>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>() \
      .Arg<Candles>().Arg<Candles>().Arg<ffi::Buffer<ffi::S32, 2>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>() \
      .Arg<ffi::Buffer<D, 1>>().Arg<ffi::Buffer<ffi::S32, 0>>().Ret<ffi::Buffer<D, 2>>()
#define BIND_EPISODE(D) \
  ffi::Ffi::Bind().Arg<In<D>>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>() \
      .Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<ffi::Buffer<D, 1>>() \
      .Arg<ffi::Buffer<ffi::F64, 2>>().Arg<ffi::Buffer<ffi::S32, 0>>().Ret<ffi::Buffer<D, 3>>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(AdvanceF64, (Advance<double, ffi::F64>), BIND_ADVANCE(ffi::F64));
XLA_FFI_DEFINE_HANDLER_SYMBOL(AdvanceF32, (Advance<float, ffi::F32>), BIND_ADVANCE(ffi::F32));
XLA_FFI_DEFINE_HANDLER_SYMBOL(EpisodeF64, (Episode<double, ffi::F64>), BIND_EPISODE(ffi::F64));
XLA_FFI_DEFINE_HANDLER_SYMBOL(EpisodeF32, (Episode<float, ffi::F32>), BIND_EPISODE(ffi::F32));
