// SPDX-License-Identifier: MIT OR Apache-2.0

// The sums of a tree, and its largest file: Largest.exe PATH. By DllImport, under Mono and .NET.

using System;
using System.Runtime.InteropServices;
using System.Text;

static class Largest
{
    const string Library = "libstatwalk.so.0";
    const int Error = 2, SizeColumn = 1 << 2, File = 0, Directory = 1;

    // The beginning of sw_entry: new members come at its end.
    [StructLayout(LayoutKind.Sequential)]
    struct Entry
    {
        public IntPtr Path; public UIntPtr PathLength; public IntPtr Name; public UIntPtr NameLength;
        public uint Known, Depth, Root;
        public byte Type, State, IsFollowed;
        public ulong Size;
    }

    [DllImport(Library)] static extern IntPtr sw_failure(IntPtr number);
    // Names are bytes: a string would be marshalled as text.
    [DllImport(Library)] static extern IntPtr sw_scan_new(byte[] root);
    [DllImport(Library)] static extern int sw_scan_set_columns(IntPtr scan, uint columns);
    [DllImport(Library)] static extern void sw_scan_free(IntPtr scan);
    [DllImport(Library)] static extern int sw_walk_open(IntPtr scan, out IntPtr walk);
    [DllImport(Library)] static extern int sw_walk_next(IntPtr walk, out IntPtr entry);
    [DllImport(Library)] static extern int sw_walk_close(IntPtr walk, IntPtr report);

    static int Main(string[] arguments)
    {
        byte[] root = Encoding.UTF8.GetBytes(arguments[0] + "\0"), path = new byte[0];
        IntPtr scan = sw_scan_new(root), walk = IntPtr.Zero, place;
        if (scan == IntPtr.Zero || sw_scan_set_columns(scan, SizeColumn) != 0
            || sw_walk_open(scan, out walk) != 0)
            throw new ExternalException(Marshal.PtrToStringAnsi(sw_failure(IntPtr.Zero)));
        ulong files = 0, directories = 0, bytes = 0, largest = 0;
        for (int got; (got = sw_walk_next(walk, out place)) > 0;)
        {
            if (got == Error) continue; // sw_walk_close says that something is missing.
            var entry = (Entry)Marshal.PtrToStructure(place, typeof(Entry));
            if (entry.Depth == 0) continue;
            if (entry.Type == Directory) directories++; else files++;
            if (entry.Type != File) continue;
            bytes += entry.Size;
            if (entry.Size < largest) continue;
            largest = entry.Size;
            path = new byte[(int)entry.PathLength];
            Marshal.Copy(entry.Path, path, 0, path.Length);
        }
        Console.Write("{0} {1} {2}\n{3} ", files, directories, bytes, largest);
        Console.OpenStandardOutput().Write(path, 0, path.Length);
        Console.WriteLine();
        sw_scan_free(scan);
        return sw_walk_close(walk, IntPtr.Zero) == 0 ? 0 : 1;
    }
}
