// SPDX-License-Identifier: MIT OR Apache-2.0

using System.IO;

/// <summary>DirectoryInfo.GetFileSystemInfos, and another FileInfo for each size.</summary>
class GetFileSystemInfos : Scanner
{
    public GetFileSystemInfos(Model model, Order order) : base(model, order) { }

    protected override void List(string path)
    {
        DirectoryInfo di = new DirectoryInfo(path);
        foreach (FileSystemInfo entry in di.GetFileSystemInfos())
        {
            FileAttributes attributes;
            if (!TryAttributes(entry, out attributes))
            {
                continue;
            }
            if (IsDirectory(attributes))
            {
                AddDirectory(entry.FullName, attributes);
                continue;
            }
            CountFiles++;
            if (WantsSizes && !IsLink(attributes))
            {
                TotalSize += new FileInfo(entry.FullName).Length;
            }
        }
    }
}
