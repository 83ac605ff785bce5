// SPDX-License-Identifier: MIT OR Apache-2.0

package org.statwalk;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Owners and groups by their numbers, each asked once. */
final class Principals {
    private static final Map<Integer, UserPrincipal> OWNERS = new ConcurrentHashMap<>();
    private static final Map<Integer, GroupPrincipal> GROUPS = new ConcurrentHashMap<>();

    private Principals() {}

    /** The owner with a number, which owns a file. */
    static UserPrincipal owner(int uid, Supplier<Path> file) {
        if (OWNERS.get(uid) == null) {
            learn(file.get());
        }
        return OWNERS.computeIfAbsent(uid, number -> lookup(number, false));
    }

    /** The group with a number, which a file has. */
    static GroupPrincipal group(int gid, Supplier<Path> file) {
        if (GROUPS.get(gid) == null) {
            learn(file.get());
        }
        return GROUPS.computeIfAbsent(gid, number -> (GroupPrincipal) lookup(number, true));
    }

    /** Asks the JDK for the names of an owner and a group that were not seen before. */
    private static void learn(Path file) {
        try {
            Map<String, Object> of = Files.readAttributes(
                    file, "unix:uid,gid,owner,group", LinkOption.NOFOLLOW_LINKS);
            OWNERS.putIfAbsent((Integer) of.get("uid"), (UserPrincipal) of.get("owner"));
            GROUPS.putIfAbsent((Integer) of.get("gid"), (GroupPrincipal) of.get("group"));
        } catch (IOException | UnsupportedOperationException gone) {
            // The number alone is known then.
            return;
        }
    }

    private static UserPrincipal lookup(int number, boolean isGroup) {
        var service = FileSystems.getDefault().getUserPrincipalLookupService();
        String name = Integer.toUnsignedString(number);
        try {
            return isGroup
                    ? service.lookupPrincipalByGroupName(name)
                    : service.lookupPrincipalByName(name);
        } catch (IOException unknown) {
            throw new UnsupportedOperationException("no principal has the number " + name, unknown);
        }
    }
}
