// SPDX-License-Identifier: MIT OR Apache-2.0
//
// statwalk for C++17: owners of the handles of statwalk.h, and ranges of entries and tables.
//
//     statwalk::walk walk(statwalk::scan("/usr").columns(SW_SIZE));
//     for (const statwalk::item &item : walk) {
//         if (item.error()) { std::cerr << item.error()->message << '\n'; continue; }
//         std::cout << item.entry().size << ' ' << item.path() << '\n';
//     }
//     if (!walk.finish().is_complete) { ... }
//
// Rules.
// - A scan that fails throws statwalk::failure. An entry that cannot be read is an item.
// - The item of a loop leads into the walk until the loop goes on. A copy of it owns its
//   strings, as a std::filesystem::directory_entry does.
// - A walk is one pass. A second loop begins with the item at which the first one stopped, as
//   with std::filesystem::recursive_directory_iterator.
// - An object that was moved away throws statwalk::failure when it is used. An iterator leads to
//   the same walk after that has moved.

#ifndef STATWALK_HPP
#define STATWALK_HPP

#include "statwalk.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace statwalk {

/// A scan that could not begin, or gives nothing more.
class failure : public std::runtime_error {
public:
    /// The last failure of this thread in statwalk.h.
    failure() : std::runtime_error(sw_failure(nullptr)) { sw_failure(&number_); }
    failure(const std::string &words, int number) : std::runtime_error(words), number_(number) {}

    /// An error number of the system.
    int number() const noexcept { return number_; }

private:
    int number_ = 0;
};

inline void check(int status) {
    if (status == SW_FAILED) throw failure();
}

namespace detail {

/// A string of C. One that holds a NUL would mean another path.
inline const char *c_string(const char *kind, const std::string &text) {
    if (text.find('\0') == std::string::npos) return text.c_str();
    std::string words = std::string(kind) + " '";
    for (const char byte : text) {
        if (byte) words += byte;
        else words += "\\0";
    }
    throw failure(words + "' holds a NUL", EINVAL);
}

/// An entry or an error with the memory of its strings. Copies of an item share it.
struct kept {
    explicit kept(const sw_entry &of) : entry(of), path(of.path, of.path_len) {
        entry.path = path.c_str();
        // The name is the end of the path.
        entry.name = path.c_str() + (path.size() - of.name_len);
    }

    explicit kept(const sw_error &of)
        : error(of), path(of.path, of.path_len), message(of.message) {
        error.path = path.c_str();
        error.message = message.c_str();
    }

    kept(const kept &) = delete;
    kept &operator=(const kept &) = delete;

    sw_entry entry{};
    sw_error error{};
    std::string path, message;
};

struct walk_source;
struct tables_source;

} // namespace detail

/// A description of a scan. Any number of scans can begin with one.
///
/// `auto s = scan(path).columns(SW_SIZE);` is one, and so is `scan s(path); s.columns(SW_SIZE);`.
class scan {
public:
    explicit scan(const std::string &root)
        : handle_(sw_scan_new(detail::c_string("root", root))) {
        if (!handle_) throw failure();
    }

    scan &add_root(const std::string &root) & {
        return call(sw_scan_add_root(get(), detail::c_string("root", root)));
    }
    scan &columns(std::uint32_t columns) & { return call(sw_scan_set_columns(get(), columns)); }
    scan &options(std::uint32_t options) & { return call(sw_scan_set_options(get(), options)); }
    scan &threads(std::size_t threads) & { return call(sw_scan_set_threads(get(), threads)); }
    scan &max_depth(std::uint32_t depth) & { return call(sw_scan_set_max_depth(get(), depth)); }
    scan &min_depth(std::uint32_t depth) & { return call(sw_scan_set_min_depth(get(), depth)); }
    scan &exclude(const std::string &pattern) & {
        return call(sw_scan_exclude(get(), detail::c_string("pattern", pattern)));
    }

    // A temporary gives itself away, so that nothing leads to it after its end.
    scan add_root(const std::string &root) && { return std::move(add_root(root)); }
    scan columns(std::uint32_t columns) && { return std::move(this->columns(columns)); }
    scan options(std::uint32_t options) && { return std::move(this->options(options)); }
    scan threads(std::size_t threads) && { return std::move(this->threads(threads)); }
    scan max_depth(std::uint32_t depth) && { return std::move(max_depth(depth)); }
    scan min_depth(std::uint32_t depth) && { return std::move(min_depth(depth)); }
    scan exclude(const std::string &pattern) && { return std::move(exclude(pattern)); }

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

/// An entry, or an error in its place.
class item {
public:
    /// Neither an entry nor an error.
    item() noexcept = default;
    /// Owns what it says, also when the loop has gone on.
    item(const item &other)
        : entry_(other.entry_), error_(other.error_), kept_(other.kept_) {
        if (entry_ && !kept_) {
            kept_ = std::make_shared<const detail::kept>(*entry_);
            entry_ = &kept_->entry;
        }
    }
    item(item &&other) noexcept { swap(other); }
    item &operator=(item other) noexcept {
        swap(other);
        return *this;
    }

    /// The error; null for an entry.
    const sw_error *error() const noexcept { return error_; }
    /// The entry. An error in its place is thrown.
    const sw_entry &entry() const {
        if (!entry_) throw_error();
        return *entry_;
    }
    /// The path of the entry or of the error. A NUL stands behind it.
    std::string_view path() const noexcept {
        if (entry_) return {entry_->path, entry_->path_len};
        return error_ ? std::string_view(error_->path, error_->path_len) : std::string_view("");
    }
    /// The name of the entry: the end of its path. Nothing for an error.
    std::string_view name() const noexcept {
        return entry_ ? std::string_view(entry_->name, entry_->name_len) : std::string_view("");
    }

private:
    friend struct detail::walk_source;

    [[noreturn]] void throw_error() const {
        if (error_) throw failure(error_->message, error_->number);
        throw failure("the item has no entry", EINVAL);
    }

    void swap(item &other) noexcept {
        std::swap(entry_, other.entry_);
        std::swap(error_, other.error_);
        kept_.swap(other.kept_);
    }

    void clear() noexcept {
        entry_ = nullptr;
        error_ = nullptr;
        if (kept_) kept_.reset();
    }

    void set_error(const sw_error &error) {
        kept_ = std::make_shared<const detail::kept>(error);
        error_ = &kept_->error;
    }

    const sw_entry *entry_ = nullptr;
    const sw_error *error_ = nullptr;
    /// The memory of both; absent where an entry lies in the walk.
    std::shared_ptr<const detail::kept> kept_;
};

/// A struct of the C interfaces of Arrow, which is released at its end.
///
/// A consumer who takes it by get() leaves it empty, as Arrow says.
template <class Struct> class arrow_owner {
public:
    arrow_owner() noexcept = default;
    arrow_owner(arrow_owner &&other) noexcept : value_(std::exchange(other.value_, Struct{})) {}
    arrow_owner &operator=(arrow_owner &&other) noexcept {
        if (this != &other) {
            reset();
            value_ = std::exchange(other.value_, Struct{});
        }
        return *this;
    }
    ~arrow_owner() { reset(); }

    /// For a function that fills an empty one, or takes a full one.
    Struct *get() noexcept { return &value_; }
    Struct *operator->() noexcept { return &value_; }
    const Struct *operator->() const noexcept { return &value_; }
    /// Whether it is there: neither empty nor released.
    explicit operator bool() const noexcept { return value_.release != nullptr; }

    void reset() noexcept {
        if (value_.release) value_.release(&value_);
        value_ = Struct{};
    }

private:
    Struct value_{};
};

/// Columns as an array of Arrow.
using arrow_array = arrow_owner<ArrowArray>;

/// The type of the tables of a scan.
class arrow_schema : public arrow_owner<ArrowSchema> {
public:
    arrow_schema() noexcept = default;
    explicit arrow_schema(const scan &scan) { check(sw_arrow_schema(scan.get(), get())); }
};

/// The end of a stream whose scan could not read everything.
enum class at_incomplete {
    fail, ///< A failure with EIO: a stream has no other place to say so.
    end,  ///< An end as any other.
};

/// A whole scan as a stream of Arrow. Its end ends the scan.
class arrow_stream : public arrow_owner<ArrowArrayStream> {
public:
    arrow_stream() noexcept = default;
    explicit arrow_stream(const scan &scan, at_incomplete incomplete = at_incomplete::fail) {
        check(sw_arrow_stream(scan.get(), incomplete == at_incomplete::end, get()));
    }

    /// The next columns; an empty array at the end.
    arrow_array next() {
        if (!*this) throw failure("the stream was moved away or released", EINVAL);
        arrow_array array;
        const int number = get()->get_next(get(), array.get());
        if (number != 0) {
            const char *words = get()->get_last_error(get());
            throw failure(words ? words : "the stream has failed", number);
        }
        return array;
    }
};

/// Directories, or other entries, in columns; or an error in their place. It outlives its scan.
class table {
public:
    /// Neither columns nor an error.
    table() noexcept = default;
    table(table &&) noexcept = default;
    table &operator=(table &&) noexcept = default;

    /// The error; null for columns.
    const sw_error *error() const noexcept { return error_ ? &error_->error : nullptr; }
    /// The columns. An error in their place is thrown.
    const sw_table &columns() const {
        if (columns_) return *columns_;
        if (error_) throw failure(error_->error.message, error_->error.number);
        throw failure("the table has no columns", EINVAL);
    }
    /// The columns; null for an error.
    const sw_table *get() const noexcept { return columns_.get(); }

    /// The name of a row; of a root, its path. A scan of entries without SW_NAME has none.
    std::string_view name(std::size_t row) const {
        const sw_table &of = with_row(row);
        if (!of.names) throw failure("the columns have no names: ask for SW_NAME", EINVAL);
        return text(of.names, of.name_offsets[row], of.name_offsets[row + 1]);
    }
    /// The path of a row: its prefix and its name. A scan without SW_NAME has none.
    std::string path(std::size_t row) const {
        const sw_table &of = with_row(row);
        if (!of.prefixes) throw failure("the columns have no paths: ask for SW_NAME", EINVAL);
        const std::uint32_t *offsets = of.prefix_offsets + of.prefixes[row];
        std::string path;
        if (offsets[1] > offsets[0]) path = text(of.prefix_bytes, offsets[0], offsets[1]);
        return path.append(name(row));
    }
    /// Gives the buffers away, without a copy.
    arrow_array to_arrow() {
        arrow_array array;
        check(sw_table_to_arrow(columns_.get(), array.get()));
        // The array has them now.
        static_cast<void>(columns_.release());
        return array;
    }

private:
    friend struct detail::tables_source;

    const sw_table &with_row(std::size_t row) const {
        const sw_table &of = columns();
        if (row >= of.len) throw std::out_of_range("statwalk::table: there is no such row");
        return of;
    }

    template <class Offset>
    static std::string_view text(const std::uint8_t *bytes, Offset begin, Offset end) {
        return {reinterpret_cast<const char *>(bytes) + begin,
                static_cast<std::size_t>(end - begin)};
    }

    struct freed {
        void operator()(sw_table *table) const noexcept { sw_table_free(table); }
    };

    std::unique_ptr<sw_table, freed> columns_;
    std::shared_ptr<const detail::kept> error_;
};

/// The loop that walk and tables have. `Source` has the functions of C.
template <class Source> class loop {
    using value_of = typename Source::value;

    /// It stays where it is when the loop moves, so iterators do not mind.
    struct state {
        explicit state(typename Source::handle *opened) noexcept : handle(opened) {}
        state(const state &) = delete;
        state &operator=(const state &) = delete;
        ~state() {
            if (handle) Source::close(handle, nullptr);
        }

        void advance() {
            Source::clear(value);
            if (is_over) return;
            const int status = Source::next(handle, value);
            check(status);
            is_begun = true;
            is_over = status == SW_END;
        }

        typename Source::handle *handle;
        value_of value;
        bool is_begun = false;
        bool is_over = false;
    };

public:
    class iterator {
        /// The value of before the step, for `*i++`.
        class past {
        public:
            value_of operator*() { return std::move(value_); }

        private:
            friend class iterator;
            explicit past(value_of value) : value_(std::move(value)) {}
            value_of value_;
        };

    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = value_of;
        using difference_type = std::ptrdiff_t;
        using reference = typename Source::reference;
        using pointer = std::remove_reference_t<reference> *;

        /// The end.
        iterator() noexcept = default;

        reference operator*() const noexcept { return state_->value; }
        pointer operator->() const noexcept { return &state_->value; }
        iterator &operator++() {
            state_->advance();
            return *this;
        }
        past operator++(int) {
            past before(Source::keep(state_->value));
            state_->advance();
            return before;
        }
        bool operator==(const iterator &other) const noexcept {
            return is_end() == other.is_end() && (is_end() || state_ == other.state_);
        }
        bool operator!=(const iterator &other) const noexcept { return !(*this == other); }

    private:
        friend class loop;
        explicit iterator(state *state) noexcept : state_(state) {}
        bool is_end() const noexcept { return !state_ || state_->is_over; }

        state *state_ = nullptr;
    };

    /// The value at hand; the first call waits for the first one.
    iterator begin() {
        state &own = there();
        if (!own.is_begun) own.advance();
        return iterator(&own);
    }
    iterator end() const noexcept { return iterator(); }

    /// Stops the scan. Any thread may call it until finish() or the end of this object.
    void cancel() const noexcept {
        if (state_) Source::cancel(state_->handle);
    }

    /// Ends the scan, and says what was not read. Nothing comes any more.
    sw_report finish() {
        state &own = there();
        if (!own.handle) throw failure("the scan is finished", EINVAL);
        Source::clear(own.value);
        own.is_over = true;
        sw_report report{};
        check(Source::close(std::exchange(own.handle, nullptr), &report));
        return report;
    }

protected:
    explicit loop(const scan &scan) {
        typename Source::handle *opened = nullptr;
        check(Source::open(scan.get(), &opened));
        std::unique_ptr<typename Source::handle, closed> held(opened);
        state_ = std::make_unique<state>(opened);
        static_cast<void>(held.release());
    }

    typename Source::handle *handle() const { return there().handle; }

private:
    struct closed {
        void operator()(typename Source::handle *handle) const noexcept {
            Source::close(handle, nullptr);
        }
    };

    state &there() const {
        if (!state_) throw failure("the scan was moved away", EINVAL);
        return *state_;
    }

    std::unique_ptr<state> state_;
};

namespace detail {

struct walk_source {
    using handle = sw_walk;
    using value = item;
    using reference = const item &;

    static int open(const sw_scan *scan, sw_walk **walk) { return sw_walk_open(scan, walk); }
    static int close(sw_walk *walk, sw_report *report) { return sw_walk_close(walk, report); }
    static void cancel(const sw_walk *walk) { sw_walk_cancel(walk); }
    static void clear(item &item) noexcept { item.clear(); }
    static item keep(const item &item) { return item; }
    static int next(sw_walk *walk, item &item) {
        const int status = sw_walk_next(walk, &item.entry_);
        if (status == SW_ERROR) item.set_error(*sw_walk_error(walk));
        return status;
    }
};

struct tables_source {
    using handle = sw_tables;
    using value = table;
    using reference = table &;

    static int open(const sw_scan *scan, sw_tables **tables) {
        return sw_tables_open(scan, tables);
    }
    static int close(sw_tables *tables, sw_report *report) {
        return sw_tables_close(tables, report);
    }
    static void cancel(const sw_tables *tables) { sw_tables_cancel(tables); }
    static void clear(table &of) noexcept { of = table(); }
    static table keep(table &of) noexcept { return std::move(of); }
    static int next(sw_tables *tables, table &of) {
        sw_table *taken = nullptr;
        const int status = sw_tables_next(tables, -1, &taken);
        of.columns_.reset(taken);
        if (status == SW_ERROR) of.error_ = std::make_shared<const kept>(*sw_tables_error(tables));
        return status;
    }
};

} // namespace detail

/// Entries one after another: an input range of items. Its end ends the scan.
class walk : public loop<detail::walk_source> {
public:
    explicit walk(const scan &scan) : loop(scan) {}

    /// Leaves out all that is below the directory that came last.
    void skip() { check(sw_walk_skip(handle())); }
};

/// Columns of many directories: an input range of tables, which a loop may move away. Its end
/// ends the scan.
class tables : public loop<detail::tables_source> {
public:
    explicit tables(const scan &scan) : loop(scan) {}

    /// Leaves out what is below a directory of a table that came, by its number.
    void skip(std::uint32_t directory) { check(sw_tables_skip(handle(), directory)); }

    /// Whether a directory of the table that came last was skipped, or lies below such a one.
    bool is_skipped(std::uint32_t directory) const {
        return sw_tables_is_skipped(handle(), directory);
    }
};

} // namespace statwalk

#endif // STATWALK_HPP
