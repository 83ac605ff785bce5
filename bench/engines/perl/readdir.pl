# SPDX-License-Identifier: MIT OR Apache-2.0

# The basic solution of the fifth article, and what it finds entered in turn:
# all names of a directory, an lstat for each.

use v5.28;
use warnings;
use integer;
use FindBin;
use lib $FindBin::Bin;
use Rounds;

# Lists one directory and gives the paths of the directories in it.
sub listed {
    my ($path, $keeps) = @_;
    # Both lists are kept as in the article, though nobody reads the second.
    my (@below, @others);
    opendir my $handle, $path or do {
        Rounds::fail("$path: $!");
        return;
    };
    local $_;
    while (readdir $handle) {
        # Not `$`, which would also match before a newline at the end.
        /^\.\.?\z/ and next;
        lstat "$path/$_" or do {
            Rounds::fail("$path/$_: $!");
            next;
        };
        Rounds::keep($_) if $keeps;
        if (-d _) {
            push @below, "$path/$_";
        } else {
            push @others, $_;
            $Rounds::bytes += -s _ if -f _;
        }
    }
    $Rounds::files += @others;
    $Rounds::directories += @below;
    return @below;
}

sub walk {
    my ($path, $keeps) = @_;
    my @waiting = $path;
    while (@waiting) {
        push @waiting, listed(pop @waiting, $keeps);
    }
}

sub count {
    walk(@_);
    $Rounds::bytes = 0;
}

sub records {
    my ($path) = @_;
    walk($path, 1);
}

Rounds::run({count => \&count, size => \&walk, records => \&records, directory => \&listed});
