// Whole episodes of strategies in many markets: what backtest.batch.play says, a block of W markets at a time.
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "candles.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

constexpr ffi::DataType D = sizeof(NUMBER) == 8 ? ffi::F64 : ffi::F32;
using Candles = ffi::Buffer<ffi::F64, 2>;
using Numbers = ffi::Buffer<D, 1>;
using Rows = ffi::Buffer<D, 2>;
using AllRows = ffi::Buffer<D, 3>;
constexpr int32_t HOLD = 0;

std::mutex guard;
std::unordered_map<int64_t, Settle*> accounts;
std::unordered_map<int64_t, Player> players;

// One strategy and its accounts. What waits at the next open stands in the first of its orders.
struct Seat {
  Player player;
  const double* p;
  std::unique_ptr<char[]> owner;
  void* memory;
  std::vector<V> account;
  i32 kind;
  V size, stop_loss, take_profit;
};

void wait_for(Seat& seat, const Orders& o, int t, mask taken) {
  seat.kind = pick(taken, o.kind[t], seat.kind);
  seat.size = pick(taken, o.size[t], seat.size);
  seat.stop_loss = pick(taken, o.stop_loss[t], seat.stop_loss);
  seat.take_profit = pick(taken, o.take_profit[t], seat.take_profit);
}

ffi::Error Episode(int64_t settle, ffi::Span<const int64_t> strategies, int64_t used, bool same, int64_t warmup,
                   Rows state, Numbers rules, Candles numbers,
                   Candles open, Candles high, Candles low, Candles close, Candles volume, Candles funding_rate,
                   Candles seen_time, Candles seen_open, Candles seen_high, Candles seen_low, Candles seen_close,
                   Candles seen_volume, Candles seen_funding_rate, ffi::Result<AllRows> out) {
  const int64_t rows = state.dimensions()[0], lanes = state.dimensions()[1], bars = close.dimensions()[1];
  const Candles* const traded_fields[] = {&open, &high, &low, &close, &volume, &funding_rate};
  const Candles* const seen_fields[] = {&seen_open, &seen_high, &seen_low, &seen_close, &seen_volume, &seen_funding_rate};
  std::vector<Seat> seats(strategies.size());
  Settle* pass;
  {
    std::lock_guard<std::mutex> held(guard);
    pass = accounts[settle];
    for (size_t s = 0; s < seats.size(); ++s) {
      seats[s].player = players[strategies[s]];
      if (!pass || !seats[s].player.decide) return ffi::Error::Internal("this process has not loaded the strategy");
    }
  }
  for (size_t s = 0; s < seats.size(); ++s) {
    Seat& seat = seats[s];
    seat.p = numbers.typed_data() + s * numbers.dimensions()[1];
    seat.owner.reset(new char[seat.player.memory + 64]);
    seat.memory = seat.owner.get() + 64 - reinterpret_cast<uintptr_t>(seat.owner.get()) % 64;
    seat.account.resize(rows);
  }
  auto traded = std::make_unique<Chunk>(), apart = std::make_unique<Chunk>();
  auto orders = std::make_unique<Orders>();
  const V none = splat<V>(std::numeric_limits<NUMBER>::quiet_NaN());
  for (int t = 0; t <= CHUNK; ++t) orders->stop_loss[t] = orders->take_profit[t] = none;
  for (int64_t lane = 0; lane < lanes; lane += W) {
    const int width = static_cast<int>(std::min<int64_t>(W, lanes - lane));
    for (Seat& seat : seats) {
      for (int64_t r = 0; r < rows; ++r)
        for (int i = 0; i < W; ++i) seat.account[r][i] = state.typed_data()[r * lanes + lane + std::min(i, width - 1)];
      seat.kind = i32{}, seat.size = V{}, seat.stop_loss = seat.take_profit = none;
    }
    for (int64_t first = 0; first < bars;) {
      const bool plays = first >= warmup;
      const int count = static_cast<int>(std::min<int64_t>(CHUNK, (plays ? bars : warmup) - first));
      const Chunk& seen = same ? *traded : *apart;
      auto turn = [&](auto* to, const Candles& from) {
        Chunk::turn(to, from.typed_data() + lane * bars + first, bars, width, count);
      };
      for (int f = 0; f < FIELDS; ++f) {
        if (plays || same) turn(traded->field[f], *traded_fields[f]);
        if (!same && used >> f & 1) turn(apart->field[f], *seen_fields[f]);
      }
      if (used >> FIELDS & 1) turn(same ? traded->time : apart->time, seen_time);
      for (Seat& seat : seats) {
        const Player& player = seat.player;
        if (!first) player.begin(seat.memory, &seen, seat.p);
        orders->kind[0] = seat.kind, orders->size[0] = seat.size;
        orders->stop_loss[0] = seat.stop_loss, orders->take_profit[0] = seat.take_profit;
        V* account = seat.account.data();
        if (!plays) {
          player.decide(seat.memory, &seen, orders.get(), account, 0, count, seat.p);
          for (int t = 1; t <= count; ++t) wait_for(seat, *orders, t, convert<mask>(orders->kind[t] != HOLD));
        } else {
          const int step = player.reads_account ? 1 : count;
          for (int t = 0; t < count; t += step) {
            if (player.reads_account) pass(account, traded.get(), orders.get(), t, t + 1, rules.typed_data());
            player.decide(seat.memory, &seen, orders.get(), account, t, t + step, seat.p);
          }
          if (!player.reads_account) pass(account, traded.get(), orders.get(), 0, count, rules.typed_data());
          wait_for(seat, *orders, count, ~mask{});
        }
        if (player.has_brackets)
          for (int t = 0; t <= CHUNK; ++t) orders->stop_loss[t] = orders->take_profit[t] = none;
      }
      first += count;
    }
    for (size_t s = 0; s < seats.size(); ++s)
      for (int64_t r = 0; r < rows; ++r)
        for (int i = 0; i < width; ++i) out->typed_data()[(s * rows + r) * lanes + lane + i] = seats[s].account[r][i];
  }
  return ffi::Error::Success();
}

}  // namespace

extern "C" void register_account(int64_t id, void* settle) {
  std::lock_guard<std::mutex> held(guard);
  accounts[id] = reinterpret_cast<Settle*>(settle);
}

extern "C" void register_strategy(int64_t id, const Player* player) {
  std::lock_guard<std::mutex> held(guard);
  players[id] = *player;
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    PlayEpisode, Episode,
    ffi::Ffi::Bind()
        .Attr<int64_t>("settle").Attr<ffi::Span<const int64_t>>("strategies").Attr<int64_t>("used").Attr<bool>("same")
        .Attr<int64_t>("warmup").Arg<Rows>().Arg<Numbers>().Arg<Candles>()
        .Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>()
        .Arg<Candles>().Arg<Candles>().Arg<Candles>().Arg<Candles>()
        .Arg<Candles>().Arg<Candles>().Ret<AllRows>());
