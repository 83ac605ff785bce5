# SPDX-License-Identifier: MIT OR Apache-2.0

# The fifth article's aio_scandir on each directory, and a group of aio_lstat
# where attributes are wanted.

use v5.28;
use warnings;
use integer;
use FindBin;
use lib $FindBin::Bin;
use IO::AIO;
use Rounds;

# The numbers of treescan, the article's own program: threads, and stats at
# once in a directory that is scanned.
IO::AIO::min_parallel 20;
my $SCAN_STATS = 8;

# Two descriptors for each.
my $DIRECTORIES_AT_ONCE = 50;
# In a directory whose entries are stat'ed.
my $STATS_AT_ONCE = 64;

my @waiting;
my $under_way = 0;

# Stats names in a directory; `take` gets each name while `_` is its stat.
sub stat_names {
    my ($path, $names, $take) = @_;
    @$names or return;
    $under_way++;
    aio_wd $path, sub {
        my ($directory) = @_ or return Rounds::fail("$path: $!");
        my $stats = aio_group sub { $under_way-- };
        limit $stats $STATS_AT_ONCE;
        feed $stats sub {
            my $name = shift @$names // return;
            add $stats aio_lstat [$directory, $name], sub {
                return Rounds::fail("$path/$name: $!") if $_[0];
                $take->($name);
            };
        };
    };
}

sub add_size {
    $Rounds::bytes += -s _ if -f _;
}

# Scans one directory; `stated` says what is stat'ed of it, and what for.
sub scan {
    my ($path, $enters, $stated) = @_;
    $under_way++;
    aio_scandir $path, $SCAN_STATS, sub {
        $under_way--;
        my ($directories, $files) = @_ or return Rounds::fail("$path: $!");
        $Rounds::directories += @$directories;
        $Rounds::files += @$files;
        push @waiting, map "$path/$_", @$directories if $enters;
        $stated->($path, $directories, $files);
    };
}

sub walk {
    my ($path, $enters, $stated) = @_;
    @waiting = $path;
    while () {
        scan(pop @waiting, $enters, $stated) while @waiting && $under_way < $DIRECTORIES_AT_ONCE;
        last unless $under_way;
        IO::AIO::poll_wait;
        IO::AIO::poll_cb;
    }
}

sub count {
    my ($path) = @_;
    walk($path, 1, sub { });
}

sub size {
    my ($path) = @_;
    walk($path, 1, sub { stat_names($_[0], $_[2], \&add_size) });
}

sub records {
    my ($path) = @_;
    walk($path, 1, sub { stat_names($_[0], [@{ $_[1] }, @{ $_[2] }], \&Rounds::keep) });
}

sub directory {
    my ($path) = @_;
    walk($path, 0, sub { stat_names($_[0], [@{ $_[1] }, @{ $_[2] }], \&add_size) });
}

Rounds::run({count => \&count, size => \&size, records => \&records, directory => \&directory});
