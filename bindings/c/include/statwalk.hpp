// SPDX-License-Identifier: MIT OR Apache-2.0
//
// statwalk for C++17: owners of the handles of statwalk.h, and a range-for loop.
//
//     statwalk::walk walk(statwalk::scan("/usr").columns(SW_SIZE));
//     for (const statwalk::item &item : walk) {
//         if (item.error()) { std::cerr << item.error()->message << '\n'; continue; }
//         std::cout << item.entry().size << ' ' << item.path() << '\n';
//     }
//     if (!walk.finish().is_complete) { ... }
//
// A scan that fails throws statwalk::failure. An entry that cannot be read is an item.

#ifndef STATWALK_HPP
#define STATWALK_HPP

#include "statwalk.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace statwalk {

/// A scan that could not begin, or gives nothing more.
class failure : public std::runtime_error {
public:
    failure() : std::runtime_error(sw_failure(nullptr)) { sw_failure(&number_); }

    /// An error number of the system.
    int number() const noexcept { return number_; }

private:
    int number_ = 0;
};

inline void check(int status) {
    if (status == SW_FAILED) throw failure();
}

/// What to scan.
class scan {
public:
    explicit scan(const std::string &root) : handle_(sw_scan_new(root.c_str())) {
        if (!handle_) throw failure();
    }

    scan &add_root(const std::string &root) { return call(sw_scan_add_root(get(), root.c_str())); }
    scan &columns(std::uint32_t columns) { return call(sw_scan_set_columns(get(), columns)); }
    scan &options(std::uint32_t options) { return call(sw_scan_set_options(get(), options)); }
    scan &threads(std::size_t threads) { return call(sw_scan_set_threads(get(), threads)); }
    scan &max_depth(std::uint32_t depth) { return call(sw_scan_set_max_depth(get(), depth)); }
    scan &exclude(const std::string &pattern) { return call(sw_scan_exclude(get(), pattern.c_str())); }

    sw_scan *get() const noexcept { return handle_.get(); }

private:
    struct freed {
        void operator()(sw_scan *scan) const noexcept { sw_scan_free(scan); }
    };

    scan &call(int status) {
        check(status);
        return *this;
    }

    std::unique_ptr<sw_scan, freed> handle_;
};

/// An entry, or an error in its place. It is there until the loop goes on.
class item {
public:
    /// The error; null for an entry.
    const sw_error *error() const noexcept { return error_; }
    /// The entry. Only where there is no error.
    const sw_entry &entry() const noexcept { return *entry_; }
    /// The path of the entry or of the error.
    std::string_view path() const noexcept {
        return error_ ? std::string_view(error_->path, error_->path_len)
                      : std::string_view(entry_->path, entry_->path_len);
    }
    /// The name of the entry.
    std::string_view name() const noexcept { return {entry_->name, entry_->name_len}; }

private:
    friend class walk;
    const sw_entry *entry_ = nullptr;
    const sw_error *error_ = nullptr;
};

/// Entries one after another. Its end ends the scan.
class walk {
public:
    explicit walk(const scan &scan) {
        sw_walk *opened = nullptr;
        check(sw_walk_open(scan.get(), &opened));
        handle_.reset(opened);
    }

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = item;
        using difference_type = std::ptrdiff_t;
        using pointer = const item *;
        using reference = const item &;

        reference operator*() const noexcept { return walk_->item_; }
        pointer operator->() const noexcept { return &walk_->item_; }
        iterator &operator++() {
            if (!walk_->advance()) walk_ = nullptr;
            return *this;
        }
        bool operator==(const iterator &other) const noexcept { return walk_ == other.walk_; }
        bool operator!=(const iterator &other) const noexcept { return walk_ != other.walk_; }

    private:
        friend class walk;
        explicit iterator(walk *walk) : walk_(walk) {}
        walk *walk_;
    };

    iterator begin() {
        iterator first(this);
        return ++first;
    }
    iterator end() noexcept { return iterator(nullptr); }

    /// Leaves out all that is below the directory that came last.
    void skip() { check(sw_walk_skip(handle_.get())); }

    /// Stops the scan. Any thread may call it while the walk is there.
    void cancel() const noexcept { sw_walk_cancel(handle_.get()); }

    /// Ends the scan, and says what was not read.
    sw_report finish() {
        sw_report report{};
        check(sw_walk_close(handle_.release(), &report));
        return report;
    }

private:
    struct closed {
        void operator()(sw_walk *walk) const noexcept { sw_walk_close(walk, nullptr); }
    };

    bool advance() {
        item_ = item();
        const int status = sw_walk_next(handle_.get(), &item_.entry_);
        check(status);
        if (status == SW_ERROR) item_.error_ = sw_walk_error(handle_.get());
        return status != SW_END;
    }

    std::unique_ptr<sw_walk, closed> handle_;
    item item_;
};

} // namespace statwalk

#endif // STATWALK_HPP
