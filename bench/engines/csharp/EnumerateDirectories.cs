// SPDX-License-Identifier: MIT OR Apache-2.0

using System.IO;

/// <summary>
/// Directory.EnumerateDirectories for the directories, then DirectoryInfo.EnumerateFiles for
/// the rest: the folder is listed twice.
/// </summary>
class EnumerateDirectories : Scanner
{
    private readonly bool asPrinted;

    /// <summary>As printed, no directory is asked whether it is a link, and links are entered.</summary>
    public EnumerateDirectories(Model model, Order order, bool asPrinted) : base(model, order)
    {
        this.asPrinted = asPrinted;
    }

    protected override void List(string path)
    {
        foreach (string foundDir in Directory.EnumerateDirectories(path))
        {
            if (asPrinted)
            {
                AddDirectory(foundDir, FileAttributes.Directory);
                continue;
            }
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
