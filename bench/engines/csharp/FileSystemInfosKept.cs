// SPDX-License-Identifier: MIT OR Apache-2.0

using System;
using System.Collections.Generic;
using System.IO;

/// <summary>
/// What the article missed: the objects of EnumerateFileSystemInfos are a FileInfo already
/// where they are no directory, and keep what they asked the system once.
/// </summary>
class FileSystemInfosKept : Scanner
{
    private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly List<FileSystemInfo> records;
    private long mtimeSeconds;

    public FileSystemInfosKept(Model model, Order order) : base(model, order)
    {
        records = model == Model.Records ? new List<FileSystemInfo>() : null;
    }

    public override string Answer()
    {
        return records == null ? base.Answer() : base.Answer() + " " + mtimeSeconds;
    }

    protected override void List(string path)
    {
        foreach (FileSystemInfo item in new DirectoryInfo(path).EnumerateFileSystemInfos())
        {
            FileAttributes attributes;
            if (!TryAttributes(item, out attributes))
            {
                continue;
            }
            if (records != null)
            {
                records.Add(item);
                mtimeSeconds += SecondsSinceEpoch(item.LastWriteTimeUtc);
            }
            FileInfo file = item as FileInfo;
            if (file == null)
            {
                AddDirectory(item.FullName, attributes);
                continue;
            }
            CountFiles++;
            if (WantsSizes && !IsLink(attributes))
            {
                TotalSize += file.Length;
            }
        }
    }

    private static long SecondsSinceEpoch(DateTime time)
    {
        long ticks = (time - Epoch).Ticks;
        // Division rounds towards zero; times before 1970 are to be rounded down as well.
        return (ticks - (ticks % TimeSpan.TicksPerSecond + TimeSpan.TicksPerSecond) % TimeSpan.TicksPerSecond)
            / TimeSpan.TicksPerSecond;
    }
}
