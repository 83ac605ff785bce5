// SPDX-License-Identifier: MIT OR Apache-2.0

// The sums of a tree, and its largest file: largest PATH. For who used QDirIterator and QFileInfo.

#include <QByteArray>
#include <QCoreApplication>
#include <QFile>
#include <QTextStream>

#include <statwalk.hpp>

int main(int argc, char **argv) {
    QCoreApplication application(argc, argv);
    const QString root = application.arguments().value(1, QStringLiteral("."));
    QTextStream out(stdout), err(stderr);
    try {
        quint64 files = 0, directories = 0, bytes = 0, largest = 0;
        QByteArray path;
        statwalk::walk walk(statwalk::scan(QFile::encodeName(root).toStdString()).columns(SW_SIZE));
        for (const statwalk::item &item : walk) {
            if (item.error()) {
                err << item.error()->message << Qt::endl;
                continue;
            }
            const sw_entry &entry = item.entry();
            if (entry.depth == 0) continue;
            if (entry.type == SW_DIRECTORY) {
                ++directories;
                continue;
            }
            ++files;
            if (entry.type != SW_FILE) continue;
            bytes += entry.size;
            if (entry.size < largest) continue;
            largest = entry.size;
            // Bytes lead back to the file; QFile::decodeName makes text of them, for people.
            path = QByteArray(entry.path, qsizetype(entry.path_len));
        }
        out << files << ' ' << directories << ' ' << bytes << '\n';
        out << largest << ' ' << QFile::decodeName(path) << Qt::endl;
        return walk.finish().is_complete ? 0 : 1;
    } catch (const statwalk::failure &failure) {
        err << failure.what() << Qt::endl;
        return 2;
    }
}
