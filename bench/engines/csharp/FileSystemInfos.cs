// SPDX-License-Identifier: MIT OR Apache-2.0

using System.IO;

/// <summary>
/// DirectoryInfo.EnumerateFileSystemInfos, and another FileInfo for each size, as the article
/// found no other way.
/// </summary>
class FileSystemInfos : Scanner
{
    public FileSystemInfos(Model model, Order order) : base(model, order) { }

    protected override void List(string path)
    {
        DirectoryInfo di = new DirectoryInfo(path);
        foreach (FileSystemInfo item in di.EnumerateFileSystemInfos("*", Depth))
        {
            FileAttributes attributes;
            if (!TryAttributes(item, out attributes))
            {
                continue;
            }
            if (IsDirectory(attributes))
            {
                AddDirectory(item.FullName, attributes);
                continue;
            }
            CountFiles++;
            if (WantsSizes && !IsLink(attributes))
            {
                TotalSize += new FileInfo(item.FullName).Length;
            }
        }
    }
}
