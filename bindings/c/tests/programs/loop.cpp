// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C++ header: a loop beside that of std::filesystem, errors, an early end.

#include "statwalk.hpp"

#include <filesystem>
#include <iostream>
#include <map>

static int failed(const char *what) {
    std::cerr << what << '\n';
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const std::string root = argv[1];
    std::map<std::string, std::uint64_t> expected, found;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
        expected[entry.path().string()] =
            entry.is_symlink() || !entry.is_regular_file() ? 0 : entry.file_size();
    statwalk::walk walk(statwalk::scan(root).columns(SW_SIZE).threads(2));
    for (const statwalk::item &item : walk) {
        if (item.error()) return failed(item.error()->message);
        if (item.entry().depth == 0) continue;
        found[std::string(item.path())] = item.entry().type == SW_FILE ? item.entry().size : 0;
        if (item.path().substr(item.path().size() - item.name().size()) != item.name())
            return failed("name");
    }
    if (found != expected || found.empty()) return failed("other entries");
    if (!walk.finish().is_complete) return failed("incomplete");
    // By path, from the entries of the root on.
    std::string before;
    statwalk::walk sorted(statwalk::scan(root).options(SW_SORT).min_depth(1));
    for (const statwalk::item &item : sorted) {
        if (item.error()) return failed(item.error()->message);
        // A slash is less than all other bytes of a name.
        std::string path(item.path());
        for (char &byte : path)
            if (byte == '/') byte = 0;
        if (item.entry().depth == 0 || path <= before) return failed("another order");
        before = path;
    }
    // A loop that is left ends the scan with its walk.
    {
        statwalk::walk early{statwalk::scan(root)};
        for (const statwalk::item &item : early) {
            (void)item;
            early.skip();
            break;
        }
    }
    // A root that is not there is an item; a pattern that is none is thrown.
    int errors = 0;
    statwalk::walk absent(statwalk::scan(root + "/absent"));
    for (const statwalk::item &item : absent) errors += item.error() != nullptr;
    if (errors != 1) return failed("no error");
    try {
        statwalk::scan(root).columns(1u << 30);
        return failed("no exception");
    } catch (const statwalk::failure &failure) {
        if (failure.number() == 0) return failed("no number");
    }
    return 0;
}
