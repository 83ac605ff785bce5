// SPDX-License-Identifier: MIT OR Apache-2.0

using System;
using System.Collections.Generic;
using System.IO;

enum Model { Count, Size, Records, Directory }

/// <summary>Who remembers the directories found: the call stack, a queue, or the library.</summary>
enum Order { Recursive, Queue, Library }

/// <summary>
/// One walk: subclasses list a directory, count what is in it, and hand on what to enter.
/// </summary>
abstract class Scanner
{
    protected long CountFiles;
    protected long CountDirs;
    protected long TotalSize;
    protected readonly bool WantsSizes;
    protected readonly SearchOption Depth;

    private readonly Order order;
    private readonly bool enters;
    private readonly Queue<string> directories = new Queue<string>();

    protected Scanner(Model model, Order order)
    {
        this.order = order;
        enters = model != Model.Directory && order != Order.Library;
        WantsSizes = model != Model.Count;
        Depth = order == Order.Library && model != Model.Directory
            ? SearchOption.AllDirectories
            : SearchOption.TopDirectoryOnly;
    }

    public bool Troubled { get; private set; }

    public virtual string Answer()
    {
        return CountFiles + " " + CountDirs + " " + TotalSize;
    }

    public void Walk(string root)
    {
        Scan(root);
        while (directories.Count > 0)
        {
            Scan(directories.Dequeue());
        }
    }

    protected abstract void List(string path);

    /// <summary>
    /// Counts a directory and enters it. Mono calls a link to a directory a directory; the walk
    /// would not end where one leads upwards.
    /// </summary>
    protected void AddDirectory(string path, FileAttributes attributes)
    {
        if (IsLink(attributes))
        {
            if (Depth != SearchOption.AllDirectories)
            {
                CountFiles++;
                return;
            }
            if (Links.LeadsUpwards(path))
            {
                throw new LinkUpwards(path);
            }
        }
        CountDirs++;
        if (!enters)
        {
            return;
        }
        if (order == Order.Queue)
        {
            directories.Enqueue(path);
        }
        else
        {
            Scan(path);
        }
    }

    protected static bool IsDirectory(FileAttributes attributes)
    {
        return (attributes & FileAttributes.Directory) != 0;
    }

    /// <summary>Mono has the length of a link itself, which is no file's size.</summary>
    protected static bool IsLink(FileAttributes attributes)
    {
        return (attributes & FileAttributes.ReparsePoint) != 0;
    }

    /// <summary>Does something with one entry, such that the next are not lost with it.</summary>
    protected void Guarded(string path, Action<string> action)
    {
        try
        {
            action(path);
        }
        catch (Exception e) when (e is IOException || e is UnauthorizedAccessException)
        {
            Report(path, e.Message);
        }
    }

    /// <summary>
    /// The attributes of an entry that was listed. Where they cannot be read there are none, but
    /// Mono sets every bit.
    /// </summary>
    protected bool TryAttributes(FileSystemInfo entry, out FileAttributes attributes)
    {
        attributes = entry.Attributes;
        if (attributes != (FileAttributes)(-1))
        {
            return true;
        }
        Report(entry.FullName, "no attributes");
        return false;
    }

    private void Scan(string path)
    {
        Guarded(path, List);
    }

    private void Report(string path, string reason)
    {
        Troubled = true;
        Console.Error.WriteLine(path + ": " + reason);
    }
}
