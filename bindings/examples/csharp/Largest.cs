// SPDX-License-Identifier: MIT OR Apache-2.0

// The sums of a tree, and its largest file: Largest.exe PATH. By DllImport, under Mono and .NET.

using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

static class Largest
{
    const string Library = "libstatwalk.so.0";
    const int Value = 1, Error = 2;
    const uint SizeColumn = 1 << 2;

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
        IntPtr scan = sw_scan_new(Encoding.UTF8.GetBytes((arguments.Length > 0 ? arguments[0] : ".") + "\0")), walk = IntPtr.Zero;
        if (scan == IntPtr.Zero || sw_scan_set_columns(scan, SizeColumn) != 0 || sw_walk_open(scan, out walk) != 0)
            throw new IOException(Marshal.PtrToStringAnsi(sw_failure(IntPtr.Zero)));
        ulong files = 0, directories = 0, bytes = 0, largest = 0;
        byte[] path = new byte[0];
        IntPtr place;
        for (int got; (got = sw_walk_next(walk, out place)) > 0;)
        {
            if (got == Error) continue; // sw_walk_close says that something is missing.
            var entry = (Entry)Marshal.PtrToStructure(place, typeof(Entry));
            if (entry.Depth == 0) continue;
            if (entry.Type == 1) { directories++; continue; }
            files++;
            if (entry.Type != 0) continue;
            bytes += entry.Size;
            if (entry.Size < largest) continue;
            largest = entry.Size;
            path = new byte[(int)entry.PathLength];
            Marshal.Copy(entry.Path, path, 0, path.Length);
        }
        Console.Write("{0} {1} {2}\n{3} ", files, directories, bytes, largest);
        Console.Out.Flush();
        Console.OpenStandardOutput().Write(path, 0, path.Length);
        Console.WriteLine();
        bool isComplete = sw_walk_close(walk, IntPtr.Zero) == 0;
        sw_scan_free(scan);
        return isComplete ? 0 : 1;
    }
}
