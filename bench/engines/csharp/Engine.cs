// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Called as Engine WAY MODEL ROUNDS PATH; the answer is described in ../README.md.

using System;
using System.Diagnostics;

static class Engine
{
    static int Main(string[] arguments)
    {
        if (arguments.Length != 4)
        {
            throw new ArgumentException("Engine WAY MODEL ROUNDS PATH");
        }
        Model model = (Model)Enum.Parse(typeof(Model), arguments[1], true);
        int rounds = int.Parse(arguments[2]);
        bool troubled = false;

        for (int round = 0; round < rounds; round++)
        {
            Scanner scanner = Way(arguments[0], model);
            Stopwatch watch = Stopwatch.StartNew();
            try
            {
                scanner.Walk(arguments[3]);
            }
            catch (LinkUpwards e)
            {
                Console.Error.WriteLine(e.Message);
                return 1;
            }
            watch.Stop();
            // Ticks of the stopwatch are whatever the clock counts, those of TimeSpan are 100 ns.
            long nanoseconds = (long)(watch.ElapsedTicks * (1e9 / Stopwatch.Frequency));
            Console.WriteLine(nanoseconds + " " + scanner.Answer());
            troubled |= scanner.Troubled;
        }
        return troubled ? 1 : 0;
    }

    static Scanner Way(string name, Model model)
    {
        switch (name)
        {
            case "enumerate-directories": return new EnumerateDirectories(model, Order.Recursive, false);
            case "enumerate-directories-printed": return new EnumerateDirectories(model, Order.Recursive, true);
            case "enumerate-directories-queue-printed": return new EnumerateDirectories(model, Order.Queue, true);
            case "enumerate-directories-queue": return new EnumerateDirectories(model, Order.Queue, false);
            case "get-file-system-infos": return new GetFileSystemInfos(model, Order.Recursive);
            case "get-file-system-infos-queue": return new GetFileSystemInfos(model, Order.Queue);
            case "entries-all": return new FileSystemEntries(model, Order.Library);
            case "entries": return new FileSystemEntries(model, Order.Recursive);
            case "entries-queue": return new FileSystemEntries(model, Order.Queue);
            case "infos-all": return new FileSystemInfos(model, Order.Library);
            case "infos": return new FileSystemInfos(model, Order.Recursive);
            case "infos-queue": return new FileSystemInfos(model, Order.Queue);
            case "infos-kept": return new FileSystemInfosKept(model, Order.Recursive);
            default: throw new ArgumentException("no way is called " + name);
        }
    }
}
