// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Article 4: a task for each directory, std::filesystem::directory_iterator in
// each task, one vector of records behind one lock.
//
//   directory_iterator redundant|boost|unlocked|lstat alone|pool|pool-THREADS MODEL ROUNDS PATH
//
//   redundant  asks the library by path for each property, as the article's
//              first program: is_symlink, file_size, then, with the lock taken,
//              last_write_time three times. The library asks the system anew
//              for each of them.
//   boost      the same with boost::filesystem, which the article recommends
//   unlocked   makes the same calls, all of them before it takes the lock
//   lstat      asks the system once for each entry, as its second program

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <boost/filesystem.hpp>
#include <boost/version.hpp>

// As in the article; the default allocator would be another measurement.
#include <mimalloc-new-delete.h>

#include "answer.hpp"
#include "executors.hpp"

namespace fs = std::filesystem;

namespace {

template <class Path, class Error>
void complain_of(const Path& path, const Error& error) {
  complain(path.c_str(), error.message().c_str());
}

struct Std {
  using Path = fs::path;
  using Iterator = fs::directory_iterator;
  using Error = std::error_code;
};

struct Redundant : Std {
  using Time = fs::file_time_type;

  struct Record {
    std::string name;
    std::uint64_t size = 0;
    Time created, modified, accessed;
    bool is_directory = false, is_file = false;
  };

  static std::int64_t seconds(Time time) {
    return std::chrono::floor<std::chrono::seconds>(Time::clock::to_sys(time)).time_since_epoch().count();
  }

  // What the article asks before it takes the lock. Leaves links out: false.
  static bool look(Model model, const fs::directory_entry& entry, Record& record) {
    const fs::path& path = entry.path();
    std::error_code error;
    if (fs::is_symlink(path, error)) return false;
    // These two know the answer from reading the directory.
    record.is_directory = entry.is_directory(error);
    record.is_file = !record.is_directory && entry.is_regular_file(error);
    if (!record.is_directory && !record.is_file) return false;
    if (model == Model::count) return true;
    if (record.is_file) record.size = fs::file_size(path, error);
    if (error) complain_of(path, error);
    return true;
  }

  // What it asks as arguments of emplace_back, with the lock taken.
  static void fill(Model model, const fs::directory_entry& entry, Record& record) {
    if (model != Model::records) return;
    const fs::path& path = entry.path();
    std::error_code error;
    record.name = path.string();
    // The library has one of the three times; the article asks for it thrice.
    record.created = fs::last_write_time(path, error);
    record.modified = fs::last_write_time(path, error);
    record.accessed = fs::last_write_time(path, error);
    if (error) complain_of(path, error);
  }

  static void keep(std::vector<Record>& records, Record& record) { records.push_back(std::move(record)); }
};

// The same calls, none of them with the lock taken.
struct Unlocked : Redundant {
  static bool look(Model model, const fs::directory_entry& entry, Record& record) {
    if (!Redundant::look(model, entry, record)) return false;
    Redundant::fill(model, entry, record);
    return true;
  }

  static void fill(Model, const fs::directory_entry&, Record&) {}
};

// The library has a time of creation from 1.75 on, and none of access: with an
// older one all three are the last modification, as with std::filesystem.
struct Boost {
  using Path = boost::filesystem::path;
  using Iterator = boost::filesystem::directory_iterator;
  using Error = boost::system::error_code;

  struct Record {
    std::string name;
    std::uint64_t size = 0;
    std::time_t created = 0, modified = 0, accessed = 0;
    bool is_directory = false, is_file = false;
  };

  static std::int64_t seconds(std::time_t time) { return time; }

  static bool look(Model model, const boost::filesystem::directory_entry& entry, Record& record) {
    const Path& path = entry.path();
    Error error;
    if (boost::filesystem::is_symlink(path, error)) return false;
    const auto status = entry.status(error);
    record.is_directory = boost::filesystem::is_directory(status);
    record.is_file = boost::filesystem::is_regular_file(status);
    if (!record.is_directory && !record.is_file) return false;
    if (model == Model::count) return true;
    if (record.is_file) record.size = boost::filesystem::file_size(path, error);
    if (error) complain_of(path, error);
    return true;
  }

  static void fill(Model model, const boost::filesystem::directory_entry& entry, Record& record) {
    if (model != Model::records) return;
    const Path& path = entry.path();
    Error error;
    record.name = path.string();
#if BOOST_VERSION >= 107500
    record.created = boost::filesystem::creation_time(path, error);
#else
    record.created = boost::filesystem::last_write_time(path, error);
#endif
    record.modified = boost::filesystem::last_write_time(path, error);
    record.accessed = boost::filesystem::last_write_time(path, error);
    if (error) complain_of(path, error);
  }

  static void keep(std::vector<Record>& records, Record& record) { records.push_back(std::move(record)); }
};

struct Lstat : Std {
  using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

  struct Record {
    std::string name;
    std::uint64_t size = 0;
    Time created, modified, accessed;
    bool is_directory = false, is_file = false, is_symlink = false;
  };

  static std::int64_t seconds(Time time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }

  static Time time_of(const timespec& t) {
    return Time(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
  }

  static bool look(Model model, const fs::directory_entry& entry, Record& record) {
    const fs::path& path = entry.path();
    struct stat st {};
    if (lstat(path.c_str(), &st) < 0) complain_of(path, std::error_code(errno, std::generic_category()));
    record.is_directory = S_ISDIR(st.st_mode);
    record.is_file = S_ISREG(st.st_mode);
    record.is_symlink = S_ISLNK(st.st_mode);
    // The article makes a record of a link as well, and then does not keep it.
    record.size = record.is_directory ? 0 : st.st_size;
    if (model == Model::records) {
      record.created = time_of(st.st_ctim);
      record.modified = time_of(st.st_mtim);
      record.accessed = time_of(st.st_atim);
      record.name = path.string();
    }
    return record.is_directory || record.is_file;
  }

  static void fill(Model, const fs::directory_entry&, Record&) {}

  // A copy, as in the article: its name is allocated once more with the lock taken.
  static void keep(std::vector<Record>& records, const Record& record) { records.push_back(record); }
};

template <class Way, class Executor>
class Walker {
 public:
  explicit Walker(Model model) : model_(model) {}

  Answer walk(const typename Way::Path& path) {
    read_directory(path);
    executor_.wait();
    for (const auto& record : records_) {
      answer_.bytes += record.size;
      answer_.mtime_seconds += Way::seconds(record.modified);
    }
    return answer_;
  }

 private:
  void read_directory(const typename Way::Path& directory) {
    typename Way::Error error;
    for (typename Way::Iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      typename Way::Record record;
      if (!Way::look(model_, *it, record)) continue;
      const bool enter = record.is_directory && model_ != Model::directory;
      // As in the article, the lock is held until the task is handed over.
      std::scoped_lock lock(mutex_);
      Way::fill(model_, *it, record);
      take(record);
      if (enter) executor_.detach([this, path = it->path()] { read_directory(path); });
    }
    if (error) complain_of(directory, error);
  }

  void take(typename Way::Record& record) {
    (record.is_directory ? answer_.directories : answer_.files)++;
    if (model_ == Model::records)
      Way::keep(records_, record);
    else if (model_ != Model::count)
      answer_.bytes += record.size;
  }

  const Model model_;
  Answer answer_;
  std::vector<typename Way::Record> records_;
  typename Executor::Mutex mutex_;
  // Last: its threads must end before what they use.
  Executor executor_;
};

template <class Way>
int answer_by(std::string_view executor, char** argv) {
  const typename Way::Path path = argv[2];
  if (executor.starts_with("pool-")) pool_threads = std::atoi(executor.data() + 5);
  if (executor.starts_with("pool")) return answer<Walker<Way, Pool>>(argv[0], std::atoi(argv[1]), path);
  return answer<Walker<Way, Alone>>(argv[0], std::atoi(argv[1]), path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::string_view way = argv[1];
  if (way == "lstat") return answer_by<Lstat>(argv[2], argv + 3);
  if (way == "boost") return answer_by<Boost>(argv[2], argv + 3);
  if (way == "unlocked") return answer_by<Unlocked>(argv[2], argv + 3);
  return answer_by<Redundant>(argv[2], argv + 3);
}
