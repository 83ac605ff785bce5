// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Who reads a directory that was found: the finder itself, at once, or a pool
// of as many threads as there are processors, as in the article: one queue
// behind one lock.

#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

struct Alone {
  struct Mutex {
    void lock() {}
    void unlock() {}
  };

  template <class Task>
  void detach(Task task) {
    task();
  }
  void wait() {}
};

// Of each pool; none: as many as processors.
inline unsigned pool_threads = 0;

class Pool {
 public:
  using Mutex = std::mutex;

  Pool() {
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned n = pool_threads ? pool_threads : processors; n > 0; n--)
      threads_.emplace_back([this] { work(); });
  }

  ~Pool() {
    {
      std::scoped_lock lock(mutex_);
      over_ = true;
    }
    available_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void detach(std::function<void()> task) {
    {
      std::scoped_lock lock(mutex_);
      tasks_.push(std::move(task));
    }
    available_.notify_one();
  }

  // Returns when every task is done, those included that tasks detached.
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      available_.wait(lock, [this] { return over_ || !tasks_.empty(); });
      if (over_) return;
      auto task = std::move(tasks_.front());
      tasks_.pop();
      running_++;
      lock.unlock();
      task();
      lock.lock();
      if (--running_ == 0 && tasks_.empty()) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable available_, done_;
  std::queue<std::function<void()>> tasks_;
  unsigned running_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};
