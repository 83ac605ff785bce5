// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the engines in C++ have in common: the models, the clock and the line
// that is printed. How a tree is walked is in the programs that include this.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

enum class Model { count, size, records, directory };

struct Answer {
  std::uint64_t files = 0, directories = 0, bytes = 0;
  std::int64_t mtime_seconds = 0;

  void add(const Answer& other) {
    files += other.files;
    directories += other.directories;
    bytes += other.bytes;
    mtime_seconds += other.mtime_seconds;
  }
};

inline std::atomic<bool> failed = false;

inline void complain(const char* name, const char* why) {
  failed = true;
  std::fprintf(stderr, "%s: %s\n", name, why);
}

// Walks as often as asked. A `Walker` is made for a model, answers `walk()` and
// keeps its records until it goes, which is after the clock was read.
template <class Walker, class Path>
int answer(std::string_view model_name, int rounds, const Path& path) {
  constexpr std::string_view names[] = {"count", "size", "records", "directory"};
  int model = 0;
  while (model < 4 && names[model] != model_name) model++;
  if (model == 4) {
    std::fprintf(stderr, "unknown model\n");
    return 2;
  }
  for (int round = 0; round < rounds; round++) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Walker walker(static_cast<Model>(model));
    const Answer answer = walker.walk(path);
    const long long ns = std::chrono::nanoseconds(Clock::now() - start).count();
    std::printf("%lld %llu %llu %llu", ns, static_cast<unsigned long long>(answer.files),
                static_cast<unsigned long long>(answer.directories), static_cast<unsigned long long>(answer.bytes));
    if (static_cast<Model>(model) == Model::records)
      std::printf(" %lld", static_cast<long long>(answer.mtime_seconds));
    std::printf("\n");
  }
  return failed;
}
