// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C++ header in C++20: walks and tables are input ranges, and views work on them.

#include "statwalk.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <ranges>
#include <set>
#include <vector>

#define CHECK(what)                                                                   \
    do {                                                                              \
        if (!(what)) {                                                                \
            std::cerr << __FILE__ << ':' << __LINE__ << ": " << #what << '\n';        \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

static_assert(std::input_iterator<statwalk::walk::iterator>);
static_assert(std::input_iterator<statwalk::tables::iterator>);
static_assert(std::sentinel_for<statwalk::walk::iterator, statwalk::walk::iterator>);
static_assert(!std::forward_iterator<statwalk::walk::iterator>);
static_assert(std::ranges::input_range<statwalk::walk>);
static_assert(std::ranges::input_range<statwalk::walk &>);
static_assert(std::ranges::common_range<statwalk::walk>);
static_assert(std::ranges::viewable_range<statwalk::walk>);
static_assert(std::ranges::viewable_range<statwalk::walk &>);
static_assert(std::ranges::input_range<statwalk::tables>);
static_assert(std::ranges::viewable_range<statwalk::tables>);
static_assert(!std::ranges::borrowed_range<statwalk::walk>);
static_assert(std::regular<statwalk::item> || std::copyable<statwalk::item>);
static_assert(std::movable<statwalk::walk> && std::movable<statwalk::table>);

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const std::string root = argv[1];
    const auto scan = statwalk::scan(root).columns(SW_SIZE);
    const auto is_file = [](const statwalk::item &item) {
        return !item.error() && item.entry().type == SW_FILE;
    };
    std::multiset<std::string> wanted, found;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
        if (!entry.is_symlink() && entry.is_regular_file()) wanted.insert(entry.path().string());
    CHECK(wanted.size() > 1);
    // A walk that lives on.
    statwalk::walk walk(scan);
    for (const statwalk::item &item : walk | std::views::filter(is_file))
        found.insert(std::string(item.path()));
    CHECK(found == wanted && walk.finish().is_complete);
    // One that its view owns.
    auto paths = statwalk::walk(scan) | std::views::filter(is_file) |
                 std::views::transform([](const auto &item) { return std::string(item.path()); });
    found.clear();
    std::ranges::copy(paths, std::inserter(found, found.end()));
    CHECK(found == wanted);
    // The first entries, copied and kept.
    std::vector<statwalk::item> first;
    std::ranges::copy(statwalk::walk(scan) | std::views::take(2), std::back_inserter(first));
    CHECK(first.size() == 2 && first[0].path() == root && first[1].entry().depth == 1);
    // What take leaves, the next loop has.
    statwalk::walk rest(scan);
    std::size_t count = 0;
    for (const auto &item : rest | std::views::take(1)) count += item.path() == root;
    for (const auto &item : rest) count += item.path() != root;
    CHECK(count == static_cast<std::size_t>(std::ranges::distance(statwalk::walk(scan).begin(),
                                                                  statwalk::walk::iterator())));
    // Algorithms of ranges, with projections.
    statwalk::walk search(scan);
    const auto at = std::ranges::find_if(search, is_file);
    CHECK(at != search.end() && wanted.count(std::string(at->path())) == 1);
    CHECK(std::ranges::count_if(statwalk::walk(scan), is_file) ==
          static_cast<std::ptrdiff_t>(wanted.size()));
    statwalk::walk skipping(scan);
    for (const auto &item : skipping | std::views::filter([](const statwalk::item &item) {
             return !item.error() && item.entry().type == SW_DIRECTORY && item.entry().depth > 0;
         })) {
        CHECK(item.entry().depth == 1);
        skipping.skip();
    }
    // Tables.
    std::size_t rows = 0;
    statwalk::tables tables(scan);
    for (const auto &table : tables | std::views::filter([](const statwalk::table &table) {
             return !table.error() && !table.columns().ids;
         }))
        rows += table.columns().len;
    CHECK(rows >= wanted.size());
    return 0;
}
