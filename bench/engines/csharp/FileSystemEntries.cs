// SPDX-License-Identifier: MIT OR Apache-2.0

using System.IO;

/// <summary>
/// Directory.EnumerateFileSystemEntries gives names; File.GetAttributes and a FileInfo ask for
/// the rest.
/// </summary>
class FileSystemEntries : Scanner
{
    public FileSystemEntries(Model model, Order order) : base(model, order) { }

    protected override void List(string path)
    {
        foreach (string item in Directory.EnumerateFileSystemEntries(path, "*", Depth))
        {
            Guarded(item, Add);
        }
    }

    private void Add(string item)
    {
        FileAttributes attributes = File.GetAttributes(item);
        if (IsDirectory(attributes))
        {
            AddDirectory(item, attributes);
            return;
        }
        CountFiles++;
        if (WantsSizes && !IsLink(attributes))
        {
            TotalSize += new FileInfo(item).Length;
        }
    }
}
