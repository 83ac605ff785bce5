// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Article 1 with Qt: QDir::entryInfoList or QDirIterator for each directory;
// found directories by recursion, from a queue, from a stack, or from a stack
// with room reserved.
//
//   scan list|iterator recursive|queue|stack|reserved MODEL ROUNDS PATH
//   scan subdirectories MODEL ROUNDS PATH
//
// The last is not in the article: the library's own recursion.

#include <QDateTime>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QQueue>
#include <QStack>
#include <QVector>

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "../cpp-std/answer.hpp"

namespace {

// The article's filter leaves hidden files out; System adds links that lead
// nowhere, sockets and devices.
constexpr QDir::Filters filters = QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden | QDir::System;

enum class Type { file, directory, link };

struct Record {
  QString name;
  qint64 size;
  Type type;
  QDateTime modified, accessed, changed;
};

class Tally {
 public:
  explicit Tally(Model model) : model_(model) {}

  bool flat() const { return model_ == Model::directory; }

  // Whether it is a directory.
  bool take(const QFileInfo& item) {
    // Links first: everything else that QFileInfo says is about their targets.
    const Type type = item.isSymLink() ? Type::link : item.isDir() ? Type::directory : Type::file;
    (type == Type::directory ? answer_.directories : answer_.files)++;
    if (model_ == Model::count) return type == Type::directory;
    const qint64 size = type == Type::file || flat() ? item.size() : 0;
    if (type == Type::file) answer_.bytes += size;
    if (model_ == Model::records) {
      Record record{item.fileName(), size, type, {}, {}, {}};
      type == Type::link ? ask_link(item, record) : ask(item, record);
      records_.push_back(std::move(record));
    }
    return type == Type::directory;
  }

  // Both ways to list answer with nothing when a directory cannot be read.
  void found_nothing(const QString& path) {
    if (!QFileInfo(path).isReadable()) complain(QFile::encodeName(path).constData(), "cannot be read");
  }

  Answer answer() const {
    Answer answer = answer_;
    for (const auto& record : records_) {
      const qint64 ms = record.modified.toMSecsSinceEpoch();
      answer.mtime_seconds += ms / 1000 - (ms % 1000 < 0);
    }
    return answer;
  }

 private:
  static void ask(const QFileInfo& item, Record& record) {
    record.modified = item.lastModified();
    record.accessed = item.lastRead();
    record.changed = item.metadataChangeTime();
  }

  // The library has no times of a link itself.
  static void ask_link(const QFileInfo& item, Record& record) {
    const QByteArray path = QFile::encodeName(item.filePath());
    struct stat st {};
    if (lstat(path.constData(), &st) < 0) complain(path.constData(), std::strerror(errno));
    const auto time = [](const timespec& t) {
      return QDateTime::fromMSecsSinceEpoch(t.tv_sec * qint64(1000) + t.tv_nsec / 1000000, Qt::UTC);
    };
    record.modified = time(st.st_mtim);
    record.accessed = time(st.st_atim);
    record.changed = time(st.st_ctim);
  }

  const Model model_;
  Answer answer_;
  QVector<Record> records_;
};

struct List {
  template <class Found>
  static void read(Tally& tally, const QString& path, Found found) {
    const QFileInfoList items = QDir(path).entryInfoList(filters);
    if (items.isEmpty()) tally.found_nothing(path);
    for (const QFileInfo& item : items)
      if (tally.take(item) && !tally.flat()) found(item.absoluteFilePath());
  }
};

struct Iterator {
  template <class Found>
  static void read(Tally& tally, const QString& path, Found found) {
    QDirIterator items(path, filters);
    if (!items.hasNext()) tally.found_nothing(path);
    while (items.hasNext()) {
      items.next();
      const QFileInfo item = items.fileInfo();
      if (tally.take(item) && !tally.flat()) found(item.absoluteFilePath());
    }
  }
};

template <class Reader>
struct Recursive {
  static void walk(Tally& tally, const QString& path) {
    Reader::read(tally, path, [&](const QString& found) { walk(tally, found); });
  }
};

template <class Reader>
struct Queue {
  static void walk(Tally& tally, const QString& path) {
    QQueue<QString> directories;
    directories.enqueue(path);
    while (!directories.isEmpty())
      Reader::read(tally, directories.dequeue(), [&](const QString& found) { directories.enqueue(found); });
  }
};

template <class Reader, int room>
struct Stack {
  static void walk(Tally& tally, const QString& path) {
    QStack<QString> directories;
    if (room > 0) directories.reserve(room);
    directories.push(path);
    while (!directories.isEmpty())
      Reader::read(tally, directories.pop(), [&](const QString& found) { directories.push(found); });
  }
};

struct Subdirectories {
  static void walk(Tally& tally, const QString& path) {
    QDirIterator items(path, filters, tally.flat() ? QDirIterator::NoIteratorFlags : QDirIterator::Subdirectories);
    if (!items.hasNext()) tally.found_nothing(path);
    while (items.hasNext()) {
      items.next();
      tally.take(items.fileInfo());
    }
  }
};

template <class Way>
struct Walker {
  explicit Walker(Model model) : tally(model) {}

  Answer walk(const QString& path) {
    Way::walk(tally, path);
    return tally.answer();
  }

  Tally tally;
};

template <class Way>
int answer_by(char** argv) {
  return answer<Walker<Way>>(argv[0], std::atoi(argv[1]), QFile::decodeName(argv[2]));
}

template <class Reader>
int answer_with(std::string_view way, char** argv) {
  // More than any of the article's trees had at once.
  constexpr int room = 100'000;
  if (way == "recursive") return answer_by<Recursive<Reader>>(argv);
  if (way == "queue") return answer_by<Queue<Reader>>(argv);
  if (way == "stack") return answer_by<Stack<Reader, 0>>(argv);
  if (way == "reserved") return answer_by<Stack<Reader, room>>(argv);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view reader = argc > 1 ? argv[1] : "";
  if (reader == "subdirectories" && argc == 5) return answer_by<Subdirectories>(argv + 2);
  if (reader == "list" && argc == 6) return answer_with<List>(argv[2], argv + 3);
  if (reader == "iterator" && argc == 6) return answer_with<Iterator>(argv[2], argv + 3);
  return 2;
}
