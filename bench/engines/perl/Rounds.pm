# SPDX-License-Identifier: MIT OR Apache-2.0

# Runs a walk as often as the command line says and prints what it found.

package Rounds;

use v5.28;
use warnings;
use integer;    # sums wrap at 64 bits
use Fcntl qw(S_ISDIR S_ISREG);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

# What a round has found: counts, bytes, and records of name, mode, size,
# atime, mtime and ctime.
our ($files, $directories, $bytes, @records);
my $failed = 0;

sub fail {
    my ($text) = @_;
    print STDERR "$text\n";
    $failed = 1;
}

# Takes the last stat that was made, as a record.
sub keep {
    my ($name) = @_;
    push @records, [$name, (stat _)[2, 7 .. 10]];
}

sub run {
    my ($models) = @_;
    my ($model, $rounds, $path) = @ARGV;
    my $walk = $models->{$model} // die "no such model: $model\n";
    $| = 1;
    for (1 .. $rounds) {
        ($files, $directories, $bytes, @records) = (0, 0, 0);
        my $start = clock_gettime(CLOCK_MONOTONIC);
        $walk->($path);
        my $elapsed = elapsed($start);
        say join ' ', $elapsed, $model eq 'records' ? summed() : ($files, $directories, $bytes);
    }
    exit $failed;
}

sub elapsed {
    no integer;
    my ($start) = @_;
    return sprintf '%.0f', (clock_gettime(CLOCK_MONOTONIC) - $start) * 1e9;
}

sub summed {
    my ($directories, $bytes, $mtimes) = (0, 0, 0);
    for my $record (@records) {
        my (undef, $mode, $size, undef, $mtime) = @$record;
        $directories++ if S_ISDIR($mode);
        $bytes += $size if S_ISREG($mode);
        $mtimes += $mtime;
    }
    return (@records - $directories, $directories, $bytes, $mtimes);
}

1;
