// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What objects of the C++ header own: scans that are kept, copies of items, objects that were
// moved away, tables and the structs of Arrow.

#include "statwalk.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <vector>

#define CHECK(what)                                                                   \
    do {                                                                              \
        if (!(what)) {                                                                \
            std::cerr << __FILE__ << ':' << __LINE__ << ": " << #what << '\n';        \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

namespace fs = std::filesystem;

using paths = std::multiset<std::string>;

static_assert(std::is_nothrow_move_constructible_v<statwalk::item>);
static_assert(std::is_nothrow_move_constructible_v<statwalk::walk>);
static_assert(std::is_nothrow_move_constructible_v<statwalk::scan>);
static_assert(std::is_nothrow_move_assignable_v<statwalk::table>);
static_assert(!std::is_copy_constructible_v<statwalk::walk>);
static_assert(!std::is_copy_constructible_v<statwalk::table>);
static_assert(!std::is_copy_constructible_v<statwalk::arrow_stream>);

// The words of the failure of a call, which must fail.
template <class Call> static std::string failure_of(Call call, int number = EINVAL) {
    try {
        call();
    } catch (const statwalk::failure &failure) {
        CHECK(failure.number() == number);
        return failure.what();
    }
    std::cerr << "no failure\n";
    std::exit(1);
}

static paths expected(const std::string &root) {
    paths found{root};
    for (const auto &entry : fs::recursive_directory_iterator(root))
        found.insert(entry.path().string());
    return found;
}

// A description can be kept, however it was made.
static void kept_scans(const std::string &root) {
    auto kept = statwalk::scan(root).columns(SW_SIZE).threads(2).max_depth(9).exclude("*.none");
    static_assert(std::is_same_v<decltype(kept), statwalk::scan>);
    auto &&bound = statwalk::scan(root).options(SW_ONE_FILE_SYSTEM).add_root("/dev/null");
    static_assert(std::is_same_v<decltype(bound), statwalk::scan &&>);
    statwalk::scan named(root);
    statwalk::scan &same = named.columns(SW_SIZE).threads(1);
    CHECK(&same == &named);
    const paths wanted = expected(root);
    const statwalk::scan *const scans[] = {&kept, &bound, &named};
    for (const statwalk::scan *scan : scans) {
        paths found;
        statwalk::walk walk(*scan);
        for (const auto &item : walk) {
            CHECK(!item.error());
            found.insert(std::string(item.path()));
        }
        if (scan == &bound) CHECK(found.erase("/dev/null") == 1);
        CHECK(found == wanted);
    }
    // Moved away, it says so.
    statwalk::scan taken = std::move(named);
    failure_of([&] { named.columns(SW_SIZE); });
    failure_of([&] { statwalk::walk walk(named); });
    failure_of([&] { statwalk::tables tables(named); });
    failure_of([&] { statwalk::arrow_schema schema(named); });
    failure_of([&] { statwalk::arrow_stream stream(named); });
    // A path of the standard library serves as well.
    statwalk::walk of_path{statwalk::scan(fs::path(root))};
    CHECK(of_path.begin()->path() == root);
}

// A NUL is an error with the text, and no shorter path.
static void nuls(const std::string &root) {
    const std::string bad = root + std::string("\0x", 2);
    const std::string shown = root + "\\0x";
    CHECK(failure_of([&] { statwalk::scan scan(bad); }) == "root '" + shown + "' holds a NUL");
    statwalk::scan scan(root);
    CHECK(failure_of([&] { scan.add_root(bad); }) == "root '" + shown + "' holds a NUL");
    CHECK(failure_of([&] { scan.exclude(std::string("a\0", 2)); }) == "pattern 'a\\0' holds a NUL");
    failure_of([&] { statwalk::scan(root).exclude(std::string("\0", 1)); });
    // The scan is as it was.
    paths found;
    statwalk::walk walk(scan);
    for (const auto &item : walk) found.insert(std::string(item.path()));
    CHECK(found == expected(root));
}

// Copies own what they say.
static void copies(const std::string &root) {
    std::vector<statwalk::item> all;
    std::map<std::string, std::uint64_t> sizes;
    {
        statwalk::walk walk(statwalk::scan(root).columns(SW_SIZE | SW_ID));
        all.assign(walk.begin(), walk.end());
        CHECK(walk.finish().is_complete);
    }
    paths found;
    for (const statwalk::item &item : all) {
        found.insert(std::string(item.path()));
        CHECK(!item.error() && item.path().data()[item.path().size()] == '\0');
        CHECK(item.entry().path_len == item.path().size());
        const std::string_view path = item.path(), name = item.name();
        CHECK(name.data() == path.data() + path.size() - name.size());
        const auto status = fs::symlink_status(fs::path(path));
        CHECK((item.entry().type == SW_DIRECTORY) == (status.type() == fs::file_type::directory));
        if (item.entry().type == SW_FILE) CHECK(item.entry().size == fs::file_size(fs::path(path)));
    }
    CHECK(found == expected(root));
    // Copies of copies, moves, swaps, and an object to itself.
    const auto by_path = [](const auto &a, const auto &b) { return a.path() < b.path(); };
    std::sort(all.begin(), all.end(), by_path);
    CHECK(std::is_sorted(all.begin(), all.end(), by_path));
    const statwalk::item copy = all.front();
    all.clear();
    CHECK(copy.path() == root && copy.name() == root);
    statwalk::item moved = copy, target;
    target = std::move(moved);
    CHECK(target.path() == root && moved.path().empty() && moved.name().empty() && !moved.error());
    failure_of([&] { moved.entry(); });
    target = *&target;
    CHECK(target.path() == root);
    std::swap(target, moved);
    CHECK(moved.path() == root && target.path().empty());
    // In the loop, too.
    statwalk::walk walk{statwalk::scan(root)};
    std::vector<statwalk::item> by_value;
    for (auto item : walk) by_value.push_back(std::move(item));
    CHECK(by_value.size() == found.size());
    // `*i++` is the entry of before the step.
    statwalk::walk steps{statwalk::scan(root)};
    auto step = steps.begin();
    const statwalk::item first = *step++;
    CHECK(first.path() == root && first.entry().depth == 0 && step->entry().depth == 1);
}

// An error owns its words as well, and is thrown where its entry is asked for.
static void errors(const std::string &root) {
    const std::string missing = root + "/absent";
    std::vector<statwalk::item> all;
    {
        statwalk::walk walk(statwalk::scan(missing).add_root(root).add_root(missing + "2"));
        std::copy(walk.begin(), walk.end(), std::back_inserter(all));
        const sw_report report = walk.finish();
        CHECK(!report.is_complete && report.missing_roots == 2);
    }
    paths found;
    for (const statwalk::item &item : all) {
        if (!item.error()) continue;
        found.insert(std::string(item.path()));
        CHECK(item.error()->number == ENOENT && item.error()->path == item.path());
        CHECK(failure_of([&] { item.entry(); }, ENOENT) == item.error()->message);
        CHECK(item.name().empty());
    }
    CHECK((found == paths{missing, missing + "2"}));
    std::vector<statwalk::table> tables;
    for (auto &table : statwalk::tables(statwalk::scan(missing).add_root(root)))
        tables.push_back(std::move(table));
    const auto failed = [](const statwalk::table &table) { return table.error() != nullptr; };
    const auto error = std::find_if(tables.begin(), tables.end(), failed);
    CHECK(error != tables.end() && error->error()->path == missing && !error->get());
    failure_of([&] { error->columns(); }, ENOENT);
    failure_of([&] { error->path(0); }, ENOENT);
    CHECK(std::count_if(tables.begin(), tables.end(), failed) == 1 && tables.size() > 2);
}

// A walk moves below its iterators, and ends once.
static void moves(const std::string &root) {
    const std::size_t count = expected(root).size();
    statwalk::walk walk{statwalk::scan(root)};
    auto at = walk.begin();
    CHECK(at == walk.begin() && at != walk.end() && at->path() == root);
    statwalk::walk other = std::move(walk);
    failure_of([&] { walk.begin(); });
    failure_of([&] { walk.finish(); });
    failure_of([&] { walk.skip(); });
    walk.cancel();
    CHECK(walk.end() == statwalk::walk::iterator());
    CHECK(at->path() == root && at == other.begin());
    // A loop that was left goes on where it was.
    std::size_t seen = 0;
    for (const auto &item : other) {
        static_cast<void>(item);
        if (++seen == 2) break;
    }
    std::string last(other.begin()->path());
    for (const auto &item : other) {
        if (!last.empty()) CHECK(item.path() == last);
        last.clear();
        seen++;
    }
    CHECK(seen == count + 1 && other.begin() == other.end() && at == other.end());
    // Into another one, whose scan ends.
    statwalk::walk target{statwalk::scan("/usr")};
    CHECK(target.begin() != target.end());
    target = statwalk::walk(statwalk::scan(root));
    CHECK(std::distance(target.begin(), target.end()) == static_cast<std::ptrdiff_t>(count));
    CHECK(target.finish().is_complete);
    failure_of([&] { target.finish(); });
    failure_of([&] { target.skip(); });
    target.cancel();
    CHECK(target.begin() == target.end());
    // The end in the middle of a loop is its end.
    statwalk::walk early{statwalk::scan("/usr")};
    seen = 0;
    for (const auto &item : early) {
        seen++;
        CHECK(early.finish().is_interrupted);
        CHECK(item.path().empty());
    }
    CHECK(seen == 1);
}

// Tables have the rows of the walk, and outlive their scan.
static void tables(const std::string &root) {
    std::map<std::string, std::uint64_t> wanted, found;
    statwalk::walk walk(statwalk::scan(root).columns(SW_NAME | SW_SIZE));
    for (const auto &item : walk) wanted[std::string(item.path())] = item.entry().size;
    std::vector<statwalk::table> all;
    {
        statwalk::tables tables(statwalk::scan(root).columns(SW_NAME | SW_SIZE));
        for (statwalk::table &table : tables) all.push_back(std::move(table));
        CHECK(tables.finish().is_complete);
    }
    for (const statwalk::table &table : all) {
        CHECK(!table.error() && table.get() == &table.columns());
        const sw_attribute *size = sw_attribute_of(table.get(), "size");
        try {
            table.path(table.columns().len);
            CHECK(table.error());
        } catch (const std::out_of_range &) {
        }
        for (std::size_t row = 0; row < table.columns().len; row++) {
            const std::string path = table.path(row);
            CHECK(path.size() >= table.name(row).size());
            CHECK(path.substr(path.size() - table.name(row).size()) == table.name(row));
            found[path] = static_cast<const std::uint64_t *>(size->values)[row];
        }
    }
    CHECK(found == wanted && !found.empty());
    // Directories always have names; nothing else has one that nobody asked for.
    for (auto &table : statwalk::tables(statwalk::scan(root).columns(SW_SIZE))) {
        if (!table.columns().len) continue;
        failure_of([&] { table.path(0); });
        if (!table.columns().ids) failure_of([&] { table.name(0); });
    }
    // A table that was moved away, or given away, has no columns.
    std::size_t rows = 0;
    for (statwalk::table &table : all) {
        const auto len = static_cast<std::int64_t>(table.columns().len);
        statwalk::table moved = std::move(table);
        failure_of([&] { table.columns(); });
        statwalk::arrow_array array = moved.to_arrow();
        CHECK(array && array->length == len && !moved.get());
        failure_of([&] { moved.to_arrow(); });
        rows += static_cast<std::size_t>(array->length);
        statwalk::arrow_array taken = std::move(array);
        CHECK(taken && !array);
        taken = statwalk::arrow_array();
        CHECK(!taken);
        taken.reset();
    }
    CHECK(rows == wanted.size());
    // Directories below the root are left out.
    statwalk::tables some{statwalk::scan(root)};
    std::size_t skipped = 0;
    for (auto &table : some) {
        const sw_table &of = table.columns();
        if (!of.ids) continue;
        for (std::size_t row = 0; row < of.len; row++) {
            if (of.has_dir && !(of.has_dir[row / 8] >> row % 8 & 1)) continue;
            if (some.is_skipped(of.dirs[row])) continue;
            some.skip(of.ids[row]);
            CHECK(some.is_skipped(of.ids[row]));
            skipped++;
        }
    }
    failure_of([&] { some.skip(0); });
    std::size_t directories = 0;
    for (const auto &entry : fs::directory_iterator(root))
        directories += entry.symlink_status().type() == fs::file_type::directory;
    CHECK(skipped == directories);
    statwalk::tables steps{statwalk::scan(root)};
    auto step = steps.begin();
    const statwalk::table first = *step++;
    CHECK(first.columns().len > 0 && first.path(0) == root);
}

// The structs of Arrow are released once.
static void arrow(const std::string &root) {
    auto scan = statwalk::scan(root).columns(SW_NAME | SW_SIZE);
    statwalk::arrow_schema schema(scan);
    CHECK(schema && std::strcmp(schema->format, "+s") == 0 && schema->n_children == 5);
    statwalk::arrow_stream stream(scan);
    statwalk::arrow_stream moved = std::move(stream);
    failure_of([&] { stream.next(); });
    statwalk::arrow_schema same;
    CHECK(!same && moved->get_schema(moved.get(), same.get()) == 0 && same->n_children == 5);
    std::size_t rows = 0;
    while (statwalk::arrow_array array = moved.next())
        rows += static_cast<std::size_t>(array->length);
    CHECK(rows == expected(root).size());
    CHECK(!moved.next());
    // A consumer takes it.
    statwalk::arrow_stream given(scan);
    ArrowArrayStream consumer = *given.get();
    given.get()->release = nullptr;
    CHECK(!given);
    consumer.release(&consumer);
    // One that is left early.
    statwalk::arrow_stream early(statwalk::scan("/usr"));
    CHECK(early.next());
    early = statwalk::arrow_stream(statwalk::scan(root + "/absent"));
    const std::string words = failure_of([&] { while (early.next()) {} }, EIO);
    CHECK(words.find("the scan is incomplete (1 errors): open " + root + "/absent") == 0);
    early = statwalk::arrow_stream(statwalk::scan(root + "/absent"), statwalk::at_incomplete::end);
    while (early.next()) {}
}

// Directories go away during the loop, and copies stay.
static void vanishing(const std::string &root) {
    const fs::path top = fs::path(root) / "vanishing";
    for (int number = 0; number < 300; number++)
        fs::create_directories(top / std::to_string(number) / "below" / "it");
    std::vector<statwalk::item> all;
    statwalk::walk walk(statwalk::scan(top.string()).columns(SW_STAT));
    for (const auto &item : walk) {
        all.push_back(item);
        if (all.size() == 10) fs::remove_all(top);
    }
    const auto failed = [](const statwalk::item &item) { return item.error() != nullptr; };
    CHECK(walk.finish().is_complete || std::any_of(all.begin(), all.end(), failed));
    for (const auto &item : all) CHECK(item.path().substr(0, top.string().size()) == top.string());
    fs::remove_all(top);
    fs::create_directory(top);
    statwalk::walk empty{statwalk::scan(top.string())};
    CHECK(std::distance(empty.begin(), empty.end()) == 1);
    fs::remove(top);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const std::string root = argv[1];
    kept_scans(root);
    nuls(root);
    copies(root);
    errors(root);
    moves(root);
    tables(root);
    arrow(root);
    vanishing(root);
    return 0;
}
