// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The best that std::filesystem allows: recursive_directory_iterator, and the
// types that its entries remember from reading the directory. Sizes and times
// it does not remember; each costs a call, and so they are asked for only where
// the model needs them.

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <mimalloc-new-delete.h>

#include "answer.hpp"

namespace fs = std::filesystem;

namespace {

class Walker {
 public:
  explicit Walker(Model model) : model_(model) {}

  Answer walk(const fs::path& path) {
    if (model_ == Model::directory)
      read<fs::directory_iterator>(path);
    else
      read<fs::recursive_directory_iterator>(path);
    for (const auto& record : records_) answer_.mtime_seconds += record.modified_seconds;
    return answer_;
  }

 private:
  struct Record {
    std::string name;
    std::uint64_t size;
    fs::file_type type;
    std::int64_t modified_seconds;
  };

  template <class Iterator>
  void read(const fs::path& root) {
    std::error_code error;
    for (Iterator it(root, error), end; !error && it != end; it.increment(error)) take(*it);
    if (error) complain(root.c_str(), error.message().c_str());
  }

  void take(const fs::directory_entry& entry) {
    std::error_code error;
    // Links first: the other questions are about what a link leads to.
    const bool is_link = entry.is_symlink(error);
    const bool is_directory = !is_link && entry.is_directory(error);
    (is_directory ? answer_.directories : answer_.files)++;
    if (model_ == Model::count) return;
    const bool is_file = !is_link && !is_directory && entry.is_regular_file(error);
    const std::uint64_t size = is_file ? entry.file_size(error) : 0;
    if (!error) answer_.bytes += size;
    if (model_ == Model::records) {
      const fs::file_type type = is_link        ? fs::file_type::symlink
                                 : is_directory ? fs::file_type::directory
                                 : is_file      ? fs::file_type::regular
                                                : fs::file_type::unknown;
      records_.push_back({entry.path().string(), size, type, modified_seconds(entry, is_link, error)});
    }
    if (error) complain(entry.path().c_str(), error.message().c_str());
  }

  static std::int64_t modified_seconds(const fs::directory_entry& entry, bool is_link, std::error_code& error) {
    if (is_link) {
      // The library has no time of a link itself.
      struct stat st {};
      if (lstat(entry.path().c_str(), &st) < 0) error.assign(errno, std::generic_category());
      return st.st_mtim.tv_sec;
    }
    const auto time = fs::file_time_type::clock::to_sys(entry.last_write_time(error));
    if (error) return 0;
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }

  const Model model_;
  Answer answer_;
  std::vector<Record> records_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return answer<Walker>(argv[1], std::atoi(argv[2]), fs::path(argv[3]));
}
