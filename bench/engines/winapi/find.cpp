// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Articles 1 and 2 with the Windows API.
//
//   find WAY MODEL ROUNDS PATH
//
//   recursive, queue, stack   FindFirstFile; found directories by recursion,
//                             from a std::queue, from a std::stack
//   ex-FETCH-INFO-HOW         FindFirstFileEx by recursion: FETCH is large or
//                             small, INFO basic or standard; HOW is sync, async
//                             (a std::async for each directory, which is a new
//                             thread) or pool (the same from a pool of threads)
//   native-BUFFER             what article 2 announces, by recursion: NtOpenFile,
//                             then NtQueryDirectoryFile until there is no more;
//                             BUFFER is small (4 KiB) or large (64 KiB)
//   nothing                   does not look at PATH
//
// Information about an entry comes with its name, so every model is the same
// work but for keeping records.

#include <fcntl.h>
#include <io.h>
#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <queue>
#include <stack>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../cpp-std/answer.hpp"

namespace {

std::string utf8(const std::wstring& wide) {
  std::string bytes(3 * wide.size(), 0);
  bytes.resize(WideCharToMultiByte(CP_UTF8, 0, wide.data(), wide.size(), bytes.data(), bytes.size(), nullptr, nullptr));
  return bytes;
}

void complain_of(const std::wstring& path, DWORD error) {
  complain(utf8(path).c_str(), ("error " + std::to_string(error)).c_str());
}

// The form of a path that is taken as it is: any length, and names that mean
// devices elsewhere. An absolute path of Linux is on Wine's drive Z.
std::wstring extended(const std::wstring& path) {
  const std::wstring given = path.starts_with(L'/') ? L"Z:" + path : path;
  std::wstring full(32768, 0);
  full.resize(GetFullPathNameW(given.c_str(), full.size(), full.data(), nullptr));
  while (full.ends_with(L'\\')) full.pop_back();
  return LR"(\\?\)" + full;
}

std::int64_t unix_seconds(FILETIME time) {
  const auto ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime);
  // 100 ns since 1601; the quotient is rounded down as there is nothing before.
  return ticks / 10'000'000 - 11'644'473'600;
}

struct Record {
  std::wstring name;
  std::uint64_t size;
  DWORD attributes;
  FILETIME modified, accessed, created;
};

class Tally {
 public:
  explicit Tally(Model model) : model_(model) {}

  Model model() const { return model_; }
  bool flat() const { return model_ == Model::directory; }

  // Whether it is a directory to enter.
  bool take(const WIN32_FIND_DATAW& found) {
    // Of a link to a directory both attributes are set.
    const bool is_directory = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    const bool is_link = found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
    if (is_directory && is_dot(found.cFileName)) return false;
    const std::uint64_t size = static_cast<std::uint64_t>(found.nFileSizeHigh) << 32 | found.nFileSizeLow;
    if (is_directory && !is_link) {
      answer_.directories++;
    } else {
      answer_.files++;
      if (!is_directory && model_ != Model::count) answer_.bytes += size;
    }
    if (model_ == Model::records)
      records_.back().push_back({found.cFileName, size, found.dwFileAttributes, found.ftLastWriteTime,
                                 found.ftLastAccessTime, found.ftCreationTime});
    return is_directory && !is_link && !flat();
  }

  void join(Tally other) {
    answer_.add(other.answer_);
    if (model_ == Model::records) records_.splice(records_.begin(), other.records_);
  }

  Answer answer() const {
    Answer answer = answer_;
    for (const auto& part : records_)
      for (const auto& record : part) answer.mtime_seconds += unix_seconds(record.modified);
    return answer;
  }

 private:
  static bool is_dot(const wchar_t* name) {
    return name[0] == L'.' && (name[1] == 0 || (name[1] == L'.' && name[2] == 0));
  }

  Model model_;
  Answer answer_;
  // A list, so that those of a subdirectory join without being copied.
  std::list<std::vector<Record>> records_ = std::list<std::vector<Record>>(1);
};

// Reads a directory; `open` is one of the functions that open a search.
template <class Open, class Found>
void read(Tally& tally, const std::wstring& directory, Open open, Found found) {
  WIN32_FIND_DATAW data;
  const HANDLE search = open((directory + L"\\*").c_str(), &data);
  if (search == INVALID_HANDLE_VALUE) {
    // The root of a drive has no dots: it is the one directory that can be empty.
    if (GetLastError() != ERROR_FILE_NOT_FOUND) complain_of(directory, GetLastError());
    return;
  }
  do {
    if (tally.take(data)) found(directory + L'\\' + data.cFileName);
  } while (FindNextFileW(search, &data));
  if (GetLastError() != ERROR_NO_MORE_FILES) complain_of(directory, GetLastError());
  FindClose(search);
}

struct Recursive {
  static void walk(Tally& tally, const std::wstring& path) {
    read(tally, path, FindFirstFileW, [&](const std::wstring& found) { walk(tally, found); });
  }
};

struct Queue {
  static void walk(Tally& tally, const std::wstring& path) {
    std::queue<std::wstring> directories;
    directories.push(path);
    while (!directories.empty()) {
      const std::wstring directory = directories.front();
      directories.pop();
      read(tally, directory, FindFirstFileW, [&](std::wstring found) { directories.push(std::move(found)); });
    }
  }
};

struct Stack {
  static void walk(Tally& tally, const std::wstring& path) {
    std::stack<std::wstring> directories;
    directories.push(path);
    while (!directories.empty()) {
      const std::wstring directory = directories.top();
      directories.pop();
      read(tally, directory, FindFirstFileW, [&](std::wstring found) { directories.push(std::move(found)); });
    }
  }
};

template <DWORD fetch, FINDEX_INFO_LEVELS info>
HANDLE find_first_ex(const wchar_t* pattern, WIN32_FIND_DATAW* data) {
  return FindFirstFileExW(pattern, info, data, FindExSearchNameMatch, nullptr, fetch);
}

template <DWORD fetch, FINDEX_INFO_LEVELS info>
struct Sync {
  static void walk(Tally& tally, const std::wstring& path) {
    read(tally, path, find_first_ex<fetch, info>, [&](const std::wstring& found) { walk(tally, found); });
  }
};

// std::async of this compiler's library: a new thread.
std::future<Tally> new_thread(std::function<Tally()> walk) {
  return std::async(std::launch::async | std::launch::deferred, std::move(walk));
}

// std::async as the library of the article's compiler has it: threads come from
// the system's pool. Who waits for a task that was not begun does it himself,
// because otherwise all threads of the pool could wait.
class Pooled {
 public:
  explicit Pooled(std::function<Tally()> walk) : task_(std::make_shared<Task>(std::move(walk))) {
    static const Environment environment;
    auto owner = std::make_unique<std::shared_ptr<Task>>(task_);
    if (TrySubmitThreadpoolCallback(run, owner.get(), environment.get())) owner.release();
  }

  Tally get() {
    task_->begin();
    return task_->walk.get_future().get();
  }

 private:
  struct Task {
    explicit Task(std::function<Tally()> function) : walk(std::move(function)) {}

    void begin() {
      if (!begun.test_and_set()) walk();
    }

    std::packaged_task<Tally()> walk;
    std::atomic_flag begun;
  };

  // Wine's pool would grow to 500 threads; that of Windows keeps as many
  // running as there are processors.
  struct Environment {
    Environment() {
      const PTP_POOL pool = CreateThreadpool(nullptr);
      SetThreadpoolThreadMaximum(pool, std::max(1u, std::thread::hardware_concurrency()));
      InitializeThreadpoolEnvironment(&environment);
      SetThreadpoolCallbackPool(&environment, pool);
    }

    PTP_CALLBACK_ENVIRON get() const { return &environment; }

    mutable TP_CALLBACK_ENVIRON environment;
  };

  static void CALLBACK run(PTP_CALLBACK_INSTANCE, void* owner) {
    const std::unique_ptr<std::shared_ptr<Task>> task(static_cast<std::shared_ptr<Task>*>(owner));
    (*task)->begin();
  }

  std::shared_ptr<Task> task_;
};

Pooled from_pool(std::function<Tally()> walk) { return Pooled(std::move(walk)); }

template <auto start, DWORD fetch, FINDEX_INFO_LEVELS info>
struct Parallel {
  static void walk(Tally& tally, const std::wstring& path) {
    std::vector<decltype(start(nullptr))> below;
    const Model model = tally.model();
    read(tally, path, find_first_ex<fetch, info>, [&](std::wstring found) {
      below.push_back(start([model, found = std::move(found)] {
        Tally part(model);
        walk(part, found);
        return part;
      }));
    });
    for (auto& part : below) tally.join(part.get());
  }
};

template <DWORD fetch, FINDEX_INFO_LEVELS info>
using Async = Parallel<new_thread, fetch, info>;
template <DWORD fetch, FINDEX_INFO_LEVELS info>
using Pool = Parallel<from_pool, fetch, info>;

// Of ntdll, and with these layouts in the Windows Driver Kit: mingw's headers for
// applications declare neither.
struct DirectoryInformation {
  ULONG next_offset, index;
  LARGE_INTEGER created, accessed, modified, changed, size, allocated;
  ULONG attributes, name_bytes;
  WCHAR name[1];
};
constexpr int directory_information = 1;
constexpr NTSTATUS no_more_files = static_cast<NTSTATUS>(0x80000006);

using QueryDirectory = NTSTATUS(NTAPI*)(HANDLE, HANDLE, PIO_APC_ROUTINE, PVOID, PIO_STATUS_BLOCK, PVOID, ULONG, int,
                                        BOOLEAN, PUNICODE_STRING, BOOLEAN);

const QueryDirectory query_directory = reinterpret_cast<QueryDirectory>(
    reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQueryDirectoryFile")));

template <ULONG buffer_bytes>
struct Native {
  static void walk(Tally& tally, const std::wstring& path) {
    // The kernel's own name of the place: \??\ where the Windows API has \\?\.
    std::wstring native = LR"(\??\)" + path.substr(4);
    // A drive without its last backslash is the device, not the root directory.
    if (native.ends_with(L':')) native += L'\\';
    read(tally, nullptr, native);
  }

 private:
  // `at` is where the name begins: a directory that is open, or nothing for a whole path.
  static void read(Tally& tally, HANDLE at, std::wstring& name) {
    UNICODE_STRING wanted{static_cast<USHORT>(2 * name.size()), static_cast<USHORT>(2 * name.size()), name.data()};
    OBJECT_ATTRIBUTES attributes;
    InitializeObjectAttributes(&attributes, &wanted, OBJ_CASE_INSENSITIVE, at, nullptr);
    IO_STATUS_BLOCK io;
    HANDLE directory;
    NTSTATUS status = NtOpenFile(&directory, FILE_LIST_DIRECTORY | SYNCHRONIZE, &attributes, &io,
                                 FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                 FILE_DIRECTORY_FILE | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT);
    if (status < 0) return complain_of(name, RtlNtStatusToDosError(status));
    // On the heap: a recursion of large buffers would use up the stack.
    const auto buffer = std::make_unique<std::uint64_t[]>(buffer_bytes / sizeof(std::uint64_t));
    const auto query = [&] {
      return query_directory(directory, nullptr, nullptr, nullptr, &io, buffer.get(), buffer_bytes,
                             directory_information, FALSE, nullptr, FALSE);
    };
    while ((status = query()) >= 0) {
      const char* entry = reinterpret_cast<const char*>(buffer.get());
      for (ULONG offset = 0;; entry += offset) {
        const auto& found = *reinterpret_cast<const DirectoryInformation*>(entry);
        offset = found.next_offset;
        take(tally, directory, found);
        if (offset == 0) break;
      }
    }
    if (status != no_more_files) complain_of(name, RtlNtStatusToDosError(status));
    NtClose(directory);
  }

  static void take(Tally& tally, HANDLE directory, const DirectoryInformation& found) {
    WIN32_FIND_DATAW data{};
    data.dwFileAttributes = found.attributes;
    data.nFileSizeHigh = found.size.HighPart;
    data.nFileSizeLow = found.size.LowPart;
    data.ftLastWriteTime = file_time(found.modified);
    data.ftLastAccessTime = file_time(found.accessed);
    data.ftCreationTime = file_time(found.created);
    const ULONG length = std::min<ULONG>(found.name_bytes / 2, MAX_PATH - 1);
    std::copy_n(found.name, length, data.cFileName);
    if (!tally.take(data)) return;
    std::wstring name(found.name, found.name_bytes / 2);
    read(tally, directory, name);
  }

  static FILETIME file_time(LARGE_INTEGER time) { return {time.LowPart, static_cast<DWORD>(time.HighPart)}; }
};

struct Nothing {
  static void walk(Tally&, const std::wstring&) {}
};

template <class Way>
struct Walker {
  explicit Walker(Model model) : tally(model) {}

  Answer walk(const std::wstring& path) {
    Way::walk(tally, path);
    return tally.answer();
  }

  Tally tally;
};

template <class Way>
int answer_by(wchar_t** argv) {
  return answer<Walker<Way>>(utf8(argv[2]), _wtoi(argv[3]), extended(argv[4]));
}

template <template <DWORD, FINDEX_INFO_LEVELS> class How>
int answer_ex(std::wstring_view fetch_info, wchar_t** argv) {
  constexpr DWORD large = FIND_FIRST_EX_LARGE_FETCH;
  if (fetch_info == L"large-basic") return answer_by<How<large, FindExInfoBasic>>(argv);
  if (fetch_info == L"large-standard") return answer_by<How<large, FindExInfoStandard>>(argv);
  if (fetch_info == L"small-basic") return answer_by<How<0, FindExInfoBasic>>(argv);
  if (fetch_info == L"small-standard") return answer_by<How<0, FindExInfoStandard>>(argv);
  return 2;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  if (argc != 5) return 2;
  // Lines end as they do for every other engine.
  _setmode(_fileno(stdout), _O_BINARY);
  const std::wstring_view way = argv[1];
  if (way == L"nothing") return answer_by<Nothing>(argv);
  if (way == L"recursive") return answer_by<Recursive>(argv);
  if (way == L"queue") return answer_by<Queue>(argv);
  if (way == L"stack") return answer_by<Stack>(argv);
  if (way == L"native-small") return answer_by<Native<4 << 10>>(argv);
  if (way == L"native-large") return answer_by<Native<64 << 10>>(argv);
  if (way.starts_with(L"ex-")) {
    const auto last = way.rfind(L'-');
    const auto fetch_info = way.substr(3, last - 3);
    if (way.substr(last) == L"-async") return answer_ex<Async>(fetch_info, argv);
    if (way.substr(last) == L"-pool") return answer_ex<Pool>(fetch_info, argv);
    if (way.substr(last) == L"-sync") return answer_ex<Sync>(fetch_info, argv);
  }
  return 2;
}
