// SPDX-License-Identifier: MIT OR Apache-2.0

using System.IO;

/// <summary>
/// Directory.EnumerateDirectories for the directories, then DirectoryInfo.EnumerateFiles for
/// the rest: the folder is listed twice.
/// </summary>
class EnumerateDirectories : Scanner
{
    public EnumerateDirectories(Model model, Order order) : base(model, order) { }

    protected override void List(string path)
    {
        foreach (string foundDir in Directory.EnumerateDirectories(path))
        {
            Guarded(foundDir, found => AddDirectory(found, File.GetAttributes(found)));
        }

        DirectoryInfo di = new DirectoryInfo(path);
        foreach (FileInfo foundFile in di.EnumerateFiles())
        {
            CountFiles++;
            if (!WantsSizes)
            {
                continue;
            }
            FileAttributes attributes;
            if (TryAttributes(foundFile, out attributes) && !IsLink(attributes))
            {
                TotalSize += foundFile.Length;
            }
        }
    }
}
