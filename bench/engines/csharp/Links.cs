// SPDX-License-Identifier: MIT OR Apache-2.0

using System;
using System.IO;
using System.Runtime.InteropServices;

static class Links
{
    /// <summary>Whether a link to a directory leads to one of those that lead to it.</summary>
    public static bool LeadsUpwards(string link)
    {
        string path = Path.GetFullPath(link);
        string target = Resolved(path);
        for (string above = Path.GetDirectoryName(path); above != null; above = Path.GetDirectoryName(above))
        {
            if (Resolved(above) == target)
            {
                return true;
            }
        }
        return false;
    }

    // The library of Mono has no name for what a link leads to.
    private static string Resolved(string path)
    {
        IntPtr resolved = realpath(path, IntPtr.Zero);
        if (resolved == IntPtr.Zero)
        {
            throw new IOException(path + ": cannot be resolved");
        }
        try
        {
            return Marshal.PtrToStringAnsi(resolved);
        }
        finally
        {
            free(resolved);
        }
    }

    [DllImport("libc")]
    private static extern IntPtr realpath(string path, IntPtr buffer);

    [DllImport("libc")]
    private static extern void free(IntPtr buffer);
}

/// <summary>SearchOption.AllDirectories cannot be kept out of a link, only ended.</summary>
class LinkUpwards : Exception
{
    public LinkUpwards(string path)
        : base(path + ": a link upwards: AllDirectories would not end")
    {
    }
}
