// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The record of articles 1 and 2 on a machine with Windows.
//
//   measure FOLDER [ROUNDS]
//
// Starts find.exe, which lies beside it, once in each of its ways and rounds,
// every round in a new order, then once for all rounds within one process, as
// article 1 has it. The first of each is dropped. Writes every time to
// record.csv in the current folder, and prints the medians.
// Ends with status 1 where two ways do not find the same.

#include <windows.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

// A thread for each directory (`-async`) is left out: it is MinGW's library, not the article's.
constexpr const wchar_t* ways[] = {
    L"recursive", L"queue", L"stack",
    L"ex-large-basic-sync", L"ex-large-standard-sync", L"ex-small-basic-sync", L"ex-small-standard-sync",
    L"ex-large-basic-pool", L"ex-large-standard-pool", L"ex-small-basic-pool", L"ex-small-standard-pool",
    L"native-small", L"native-large",
};

struct Round {
  long long ns;
  std::string found;  // files, directories, bytes
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "measure: %s: error %lu\n", what.c_str(), GetLastError());
  std::exit(2);
}

std::string narrow(const std::wstring& wide) {
  std::string bytes(3 * wide.size() + 1, 0);
  bytes.resize(WideCharToMultiByte(CP_UTF8, 0, wide.data(), wide.size(), bytes.data(), bytes.size(), nullptr, nullptr));
  return bytes;
}

std::wstring beside_us(const wchar_t* name) {
  std::wstring path(32768, 0);
  path.resize(GetModuleFileNameW(nullptr, path.data(), path.size()));
  return path.substr(0, path.rfind(L'\\') + 1) + name;
}

// Runs find.exe and gives its rounds; an exit status of 1 means that something
// could not be read, which its own messages say, and which all ways have alike.
std::vector<Round> run(const std::wstring& way, int rounds, std::wstring folder) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  HANDLE read_end, write_end;
  if (!CreatePipe(&read_end, &write_end, &inherited, 0)) give_up("pipe");
  SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdOutput = write_end;
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION process;
  // A backslash before the quotation mark would be taken for a part of the name.
  if (folder.ends_with(L'\\')) folder += L'\\';
  std::wstring command =
      L"\"" + beside_us(L"find.exe") + L"\" " + way + L" size " + std::to_wstring(rounds) + L" \"" + folder + L"\"";
  if (!CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &process))
    give_up("find.exe");
  CloseHandle(write_end);
  std::string text;
  char part[4096];
  for (DWORD got; ReadFile(read_end, part, sizeof part, &got, nullptr) && got;) text.append(part, got);
  CloseHandle(read_end);
  WaitForSingleObject(process.hProcess, INFINITE);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  std::vector<Round> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space == std::string::npos) continue;
    found.push_back({std::atoll(line.c_str()), line.substr(space + 1)});
  }
  if (found.size() != static_cast<std::size_t>(rounds)) give_up("no answer of " + narrow(way));
  return found;
}

double median_ms(std::vector<long long> times) {
  std::sort(times.begin(), times.end());
  const auto half = times.size() / 2;
  return (times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2.0) / 1e6;
}

std::string conditions(const std::wstring& folder) {
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof version;
  // GetVersionEx has the version that a manifest names, this the true one.
  using GetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
  const auto get = reinterpret_cast<GetVersion>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")));
  if (get) get(&version);
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  wchar_t root[MAX_PATH + 1] = L"", kind[MAX_PATH + 1] = L"unknown";
  if (GetVolumePathNameW(folder.c_str(), root, MAX_PATH))
    GetVolumeInformationW(root, nullptr, 0, nullptr, nullptr, nullptr, kind, MAX_PATH);
  SYSTEMTIME now;
  GetSystemTime(&now);
  char text[512];
  std::snprintf(text, sizeof text, "# Windows %lu.%lu.%lu, %lu processors, %s, %04d-%02d-%02d %02d:%02d UTC%s\n",
                version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber, system.dwNumberOfProcessors,
                narrow(kind).c_str(), now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute,
                GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") ? ", under Wine" : "");
  return text;
}

}  // namespace

int wmain(int argc, wchar_t** argv) {
  const int rounds = argc > 2 ? _wtoi(argv[2]) : 11;
  if (argc < 2 || argc > 3 || rounds < 2) {
    std::fprintf(stderr, "usage: measure FOLDER [ROUNDS]: at least 2 rounds, 11 where nothing is said\n");
    return 2;
  }
  const DWORD attributes = GetFileAttributesW(argv[1]);
  if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_DIRECTORY))
    give_up(narrow(argv[1]) + " is no folder that can be read");
  std::FILE* record = std::fopen("record.csv", "wb");
  if (!record) give_up("record.csv");
  const std::wstring folder = argv[1];
  std::fputs(conditions(folder).c_str(), record);
  std::fputs("way,within,round,nanoseconds,files,directories,bytes\n", record);

  std::map<std::string, std::vector<long long>> processes, within;
  std::map<std::string, std::string> found;  // an answer, and who gave it
  const auto keep = [&](const std::string& way, bool is_within, int number, const Round& round) {
    std::string columns = round.found;
    std::replace(columns.begin(), columns.end(), ' ', ',');
    std::fprintf(record, "%s,%d,%d,%lld,%s\n", way.c_str(), is_within, number, round.ns, columns.c_str());
    if (number > 0) (is_within ? within : processes)[way].push_back(round.ns);
    found.emplace(round.found, way);
  };

  std::vector<std::wstring> order(std::begin(ways), std::end(ways));
  std::mt19937 random(1);
  for (int number = 0; number < rounds; number++) {
    std::printf("round %d of %d\n", number + 1, rounds);
    std::fflush(stdout);
    std::shuffle(order.begin(), order.end(), random);
    for (const auto& way : order) keep(narrow(way), false, number, run(way, 1, folder)[0]);
  }
  for (const auto& way : order) {
    const auto all = run(way, rounds, folder);
    for (int number = 0; number < rounds; number++) keep(narrow(way), true, number, all[number]);
  }
  if (std::fclose(record) != 0) give_up("record.csv");

  std::printf("\n%-24s %14s %16s\n", "way", "process ms", "within one ms");
  for (const auto* way : ways)
    std::printf("%-24s %14.2f %16.2f\n", narrow(way).c_str(), median_ms(processes[narrow(way)]),
                median_ms(within[narrow(way)]));
  if (found.size() == 1) return 0;
  std::printf("\nThe ways do not agree: the folder changed meanwhile, or one of them is wrong.\n");
  for (const auto& [answer, way] : found) std::printf("%s: first by %s\n", answer.c_str(), way.c_str());
  return 1;
}
