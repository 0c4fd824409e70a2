// A block of W elements after the other, from arrays of any length.
#pragma once
#include <algorithm>

#include "lanes.h"

// Written out, so that what is known of an array when this is compiled costs nothing when it runs.
#define EACH(k, count) _Pragma("GCC unroll 64") for (int k = 0; k < count; ++k)

template <int INS, int OUTS, typename Block>
INLINE void in_blocks(int64_t count, const int64_t (&in_size)[INS], const char* const* in, const int64_t* step,
                      const int64_t (&out_size)[OUTS], char* const* out, Block block) {
  alignas(64) char filled[INS][W * 8], rest[OUTS][W * 8];
  const char* from[INS];
  char* to[OUTS];
  // One number is repeated once for all blocks.
  EACH(k, INS) {
    from[k] = step[k] ? in[k] : filled[k];
    if (!step[k])
      for (int i = 0; i < W; ++i) std::memcpy(filled[k] + i * in_size[k], in[k], in_size[k]);
  }
  EACH(k, OUTS) to[k] = out[k];
  const int64_t whole = count / W, left = count % W;
  char* ends[OUTS];
  EACH(k, OUTS) ends[k] = rest[k];
  // The block is written out here once, what is left at the end included: it is long.
  for (int64_t i = 0; i < whole + (left > 0); ++i) {
    if (i == whole)
      EACH(k, INS) {
        if (!step[k]) continue;
        for (int64_t j = 0; j < W; ++j)
          std::memcpy(filled[k] + j * in_size[k], from[k] + std::min(j, left - 1) * in_size[k], in_size[k]);
        from[k] = filled[k];
      }
    block(from, i == whole ? ends : to);
    if (i == whole) break;
    EACH(k, INS) from[k] += step[k] * W * in_size[k];
    EACH(k, OUTS) to[k] += W * out_size[k];
  }
  EACH(k, OUTS) std::memcpy(to[k], rest[k], left * out_size[k]);
}
