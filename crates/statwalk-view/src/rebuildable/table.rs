// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rules, each with its origin.
//!
//! The first rule that holds names the program. A row must prove that this program made the
//! directory. A proof is a file that no other program writes into it, or a name that the
//! program reserves beside the file of a project. An environment needs the list of its
//! packages beside it: without one nobody could install them again.
//!
//! Left out on purpose:
//!
//! - `dist`, `out`, `bin`, `Pods`, and `vendor` of Go: people publish and commit them.
//! - `~/.m2/repository`: `mvn install` puts artifacts there that nobody can download.
//! - `/var/cache/pacman/pkg`: mirrors drop the older versions that it keeps.
//! - `.ipynb_checkpoints`, `.hypothesis`, `.snakemake`: they keep work that is nowhere else.
//! - `~/.cache` as a whole, and `~/.cache/deno`: programs keep their data in it.
//! - `bazel-*`: they are links.

use super::rule::Need::{Beside, Inside, ValidTag, Without, WithoutBelow};
use super::rule::Scope::{Everywhere, Project};
use super::rule::{Need, Rule, Scope};

/// Places that belong to a program with all that is in them.
///
/// There the results of a build are a part of an installation, of an image or of a backup.
pub const CLOSED: &[&str] = &[
    // Packages, when no rule holds for the directory of them.
    "node_modules",
    "site-packages",
    "dist-packages",
    "lib/python2.*",
    "lib/python3.*",
    "lib64/python3.*",
    // FHS 3.0, chapter 4: the hierarchy of the system.
    "usr/lib",
    "usr/lib32",
    "usr/lib64",
    "usr/libexec",
    "usr/share",
    // Stores of package managers.
    "nix/store",
    "gnu/store",
    "ostree/repo",
    "var/lib/flatpak",
    "share/flatpak",
    "var/lib/snapd",
    // Layers of images, docs.docker.com/engine/storage/drivers and containers-storage.conf(5).
    "docker/overlay2",
    "docker/btrfs",
    "docker/zfs",
    "docker/vfs",
    "containers/storage",
    "io.containerd.*",
    // Snapshots and the trash.
    ".snapshots",
    "timeshift/snapshots",
    "share/Trash",
    ".Trash",
    ".Trash-*",
    // Programs of other systems.
    "Library/Application Support",
    "AppData",
    // Version control.
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
];

/// Files of projects: a directory that holds one is no place for results alone.
pub const PROJECTS: &str = "Cargo.toml package.json pyproject.toml setup.py pom.xml build.gradle \
    build.gradle.kts CMakeLists.txt meson.build Makefile go.mod";

const fn rule(
    scope: Scope,
    names: &'static str,
    needs: &'static [Need],
    rebuilt_by: &'static str,
    origin: &'static str,
) -> Rule {
    Rule {
        names,
        needs,
        scope,
        rebuilt_by,
        origin,
    }
}

/// The rules.
pub const RULES: &[Rule] = &[
    // JavaScript. The files within are written by the package managers alone.
    rule(
        Project,
        "node_modules",
        &[Beside("package.json"), Inside(".package-lock.json")],
        "npm install",
        "docs.npmjs.com/cli/configuring-npm/package-lock-json, hidden lockfiles",
    ),
    rule(
        Project,
        "node_modules",
        &[Beside("package.json"), Inside(".modules.yaml")],
        "pnpm install",
        "npmjs.com/package/@pnpm/modules-yaml",
    ),
    rule(
        Project,
        "node_modules",
        &[
            Beside("package.json"),
            Inside(".yarn-integrity .yarn-state.yml"),
        ],
        "yarn install",
        "github.com/yarnpkg/yarn, src/constants.js; yarnpkg/berry, nm linker",
    ),
    rule(
        Project,
        "node_modules",
        &[Beside("package.json"), Beside("bun.lock bun.lockb")],
        "bun install",
        "bun.com/docs/install/lockfile",
    ),
    rule(
        Project,
        ".next",
        &[
            Beside("package.json"),
            Inside("build-manifest.json cache/ server/"),
        ],
        "next build",
        "nextjs.org/docs, distDir",
    ),
    rule(
        Project,
        ".nuxt",
        &[Beside("nuxt.config.ts nuxt.config.js nuxt.config.mjs")],
        "nuxt build",
        "nuxt.com/docs/guide/directory-structure/nuxt",
    ),
    rule(
        Project,
        ".svelte-kit",
        &[Beside("svelte.config.js svelte.config.ts")],
        "vite build",
        "svelte.dev/docs/kit/configuration, outDir",
    ),
    rule(
        Project,
        ".parcel-cache",
        &[Beside("package.json")],
        "parcel build",
        "parceljs.org/features/development, caching",
    ),
    rule(
        Project,
        ".turbo",
        &[Beside("package.json")],
        "turbo build",
        "turborepo.com/docs/crafting-your-repository/caching",
    ),
    rule(
        Project,
        ".angular",
        &[Beside("angular.json"), Inside("cache/")],
        "ng build",
        "angular.dev/cli/cache",
    ),
    rule(
        Project,
        ".docusaurus",
        &[Beside("docusaurus.config.js docusaurus.config.ts")],
        "docusaurus build",
        "docusaurus.io/docs/cli, clear",
    ),
    rule(
        Project,
        ".cache",
        &[Beside(
            "gatsby-config.js gatsby-config.ts gatsby-config.mjs",
        )],
        "gatsby build",
        "gatsbyjs.com/docs/build-caching",
    ),
    rule(
        Project,
        "elm-stuff",
        &[Beside("elm.json")],
        "elm make",
        "github.com/elm/compiler, builder/src/Stuff.hs",
    ),
    // Rust.
    rule(
        Project,
        "target",
        &[
            Beside("Cargo.toml"),
            Inside("CACHEDIR.TAG"),
            Without(PROJECTS),
        ],
        "cargo build",
        "doc.rust-lang.org/cargo/reference/build-cache.html",
    ),
    // Wherever --target-dir points to.
    rule(
        Project,
        "*",
        &[Inside(".rustc_info.json"), Without(PROJECTS)],
        "cargo build",
        "github.com/rust-lang/cargo, src/cargo/util/rustc.rs",
    ),
    // Java and its relatives. A module can be called target or build.
    rule(
        Project,
        "target",
        &[
            Beside("pom.xml"),
            Inside(
                "classes/ test-classes/ maven-status/ maven-archiver/ generated-sources/ \
                 surefire-reports/",
            ),
            Without(PROJECTS),
        ],
        "mvn package",
        "maven.apache.org/plugins/maven-clean-plugin",
    ),
    rule(
        Project,
        "target",
        &[
            Beside("build.sbt"),
            Inside("streams/ global-logging/"),
            Without(PROJECTS),
        ],
        "sbt compile",
        "scala-sbt.org/1.x/docs/Directories.html",
    ),
    rule(
        Project,
        ".gradle",
        &[
            Beside("build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
            // The user's own directory has properties with passwords.
            Without("gradle.properties init.gradle init.d caches"),
        ],
        "gradle build",
        "docs.gradle.org/current/userguide/directory_layout.html",
    ),
    rule(
        Project,
        "build",
        &[
            Beside("build.gradle build.gradle.kts"),
            Inside("classes/ intermediates/"),
            Without(PROJECTS),
        ],
        "gradle build",
        "docs.gradle.org/current/userguide/directory_layout.html",
    ),
    // Python.
    rule(
        Project,
        ".venv venv .env env",
        &[
            Inside("pyvenv.cfg"),
            Beside(
                "requirements.txt pyproject.toml Pipfile setup.py setup.cfg uv.lock poetry.lock \
                 pdm.lock",
            ),
            Without(PROJECTS),
        ],
        "python -m venv",
        "docs.python.org/3/library/venv.html",
    ),
    rule(
        Project,
        "__pycache__",
        &[],
        "python",
        "peps.python.org/pep-3147",
    ),
    rule(
        Project,
        ".mypy_cache",
        &[],
        "mypy",
        "mypy.readthedocs.io/en/stable/command_line.html, --cache-dir",
    ),
    rule(
        Project,
        ".pytest_cache",
        &[],
        "pytest",
        "docs.pytest.org/en/stable/how-to/cache.html",
    ),
    rule(
        Project,
        ".ruff_cache",
        &[],
        "ruff",
        "docs.astral.sh/ruff/settings, cache-dir",
    ),
    rule(
        Project,
        ".tox",
        &[Beside("tox.ini tox.toml pyproject.toml setup.cfg")],
        "tox",
        "tox.wiki/en/latest/config.html, work_dir",
    ),
    rule(
        Project,
        ".nox",
        &[Beside("noxfile.py")],
        "nox",
        "nox.thea.codes/en/stable/usage.html",
    ),
    // Elixir, Erlang, OCaml, Haskell, Elm.
    rule(
        Project,
        "_build",
        &[Beside("mix.exs"), Inside("dev/ test/ prod/ shared/")],
        "mix compile",
        "hexdocs.pm/mix/Mix.Tasks.Compile.html",
    ),
    rule(
        Project,
        "deps",
        &[Beside("mix.exs"), Beside("mix.lock")],
        "mix deps.get",
        "hexdocs.pm/mix/Mix.Tasks.Deps.html",
    ),
    rule(
        Project,
        "_build",
        &[Beside("rebar.config"), Inside("default/ test/ prod/")],
        "rebar3 compile",
        "rebar3.org/docs/configuration/configuration",
    ),
    rule(
        Project,
        "_build",
        &[Beside("dune-project"), Inside("log default/")],
        "dune build",
        "dune.readthedocs.io/en/stable/usage.html",
    ),
    rule(
        Project,
        ".stack-work",
        &[],
        "stack build",
        "docs.haskellstack.org/en/stable/topics/stack_work",
    ),
    rule(
        Project,
        "dist-newstyle",
        &[Inside("cache/ build/ packagedb/")],
        "cabal build",
        "cabal.readthedocs.io/en/stable/nix-local-build.html",
    ),
    // Zig, Swift, C, C++.
    rule(
        Project,
        ".zig-cache zig-cache",
        &[Inside("h/ o/ z/ tmp/")],
        "zig build",
        "ziglang.org/learn/build-system",
    ),
    rule(
        Project,
        "zig-out",
        &[Beside("build.zig")],
        "zig build",
        "ziglang.org/learn/build-system",
    ),
    rule(
        Project,
        ".build",
        &[Beside("Package.swift")],
        "swift build",
        "docs.swift.org/package-manager",
    ),
    // A build can stand in the directory of the source, and above it.
    rule(
        Project,
        "build* cmake-build-*",
        &[
            Inside("CMakeCache.txt"),
            Inside("CMakeFiles/"),
            WithoutBelow("CMakeLists.txt"),
        ],
        "cmake",
        "cmake.org/cmake/help/latest/manual/cmake.1.html",
    ),
    rule(
        Project,
        "*",
        &[
            Beside("CMakeLists.txt"),
            Inside("CMakeCache.txt"),
            Inside("CMakeFiles/"),
            WithoutBelow("CMakeLists.txt"),
        ],
        "cmake",
        "cmake.org/cmake/help/latest/manual/cmake.1.html",
    ),
    rule(
        Project,
        "*",
        &[
            Inside("meson-info/"),
            Inside("meson-private/"),
            WithoutBelow("meson.build"),
        ],
        "meson setup",
        "mesonbuild.com/IDE-integration.html",
    ),
    rule(
        Project,
        "autom4te.cache",
        &[Beside("configure.ac configure.in")],
        "autoconf",
        "gnu.org/software/autoconf/manual, autom4te",
    ),
    // .NET, PHP, Dart, games.
    rule(
        Project,
        "obj",
        &[Inside("project.assets.json")],
        "dotnet build",
        "learn.microsoft.com/nuget/concepts/package-installation-process",
    ),
    rule(
        Project,
        "vendor",
        &[
            Beside("composer.json"),
            Beside("composer.lock"),
            Inside("autoload.php"),
            Inside("composer/"),
        ],
        "composer install",
        "getcomposer.org/doc/01-basic-usage.md",
    ),
    rule(
        Project,
        ".dart_tool",
        &[Beside("pubspec.yaml")],
        "dart pub get",
        "dart.dev/tools/pub/private-files",
    ),
    rule(
        Project,
        "Library",
        &[
            Beside("ProjectSettings/"),
            Beside("Assets/"),
            Inside("ArtifactDB assetDatabase3"),
        ],
        "Unity",
        "docs.unity3d.com/Manual/AssetDatabaseContents.html",
    ),
    rule(
        Project,
        ".godot",
        &[Beside("project.godot")],
        "Godot",
        "docs.godotengine.org/en/stable/tutorials/best_practices/version_control_systems.html",
    ),
    rule(
        Project,
        ".terraform",
        &[Beside(".terraform.lock.hcl"), Inside("providers/ modules/")],
        "terraform init",
        "developer.hashicorp.com/terraform/cli/init",
    ),
    rule(
        Project,
        ".terragrunt-cache",
        &[Beside("terragrunt.hcl")],
        "terragrunt",
        "terragrunt.gruntwork.io/docs/features/caching",
    ),
    // Caches of users.
    rule(
        Everywhere,
        ".cargo/registry .cargo/git",
        &[],
        "cargo fetch",
        "doc.rust-lang.org/cargo/guide/cargo-home.html",
    ),
    rule(
        Everywhere,
        ".npm/_cacache",
        &[],
        "npm",
        "docs.npmjs.com/cli/commands/npm-cache",
    ),
    rule(
        Everywhere,
        ".cache/yarn .yarn/berry/cache",
        &[],
        "yarn",
        "classic.yarnpkg.com/en/docs/cli/cache; yarnpkg.com/configuration/yarnrc, globalFolder",
    ),
    rule(
        Everywhere,
        ".cache/pnpm share/pnpm/store .pnpm-store",
        &[],
        "pnpm",
        "pnpm.io/settings, storeDir and cacheDir",
    ),
    rule(
        Everywhere,
        ".cache/node-gyp",
        &[],
        "node-gyp",
        "github.com/nodejs/node-gyp, README.md, --devdir",
    ),
    rule(
        Everywhere,
        ".cache/ms-playwright",
        &[],
        "playwright install",
        "playwright.dev/docs/browsers, managing browser binaries",
    ),
    rule(
        Everywhere,
        ".cache/pip",
        &[],
        "pip",
        "pip.pypa.io/en/stable/topics/caching",
    ),
    rule(
        Everywhere,
        ".cache/uv",
        &[],
        "uv",
        "docs.astral.sh/uv/concepts/cache",
    ),
    // Its environments are beside these, and are no cache.
    rule(
        Everywhere,
        ".cache/pypoetry/cache .cache/pypoetry/artifacts",
        &[],
        "poetry",
        "python-poetry.org/docs/configuration, cache-dir",
    ),
    rule(
        Everywhere,
        ".cache/pre-commit",
        &[],
        "pre-commit",
        "pre-commit.com, managing the cache",
    ),
    rule(
        Everywhere,
        ".cache/go-build",
        &[],
        "go build",
        "pkg.go.dev/cmd/go, build and test caching",
    ),
    rule(
        Everywhere,
        "go/pkg/mod",
        &[Inside("cache/")],
        "go mod download",
        "go.dev/ref/mod#module-cache",
    ),
    rule(
        Everywhere,
        ".gradle/caches .gradle/wrapper/dists",
        &[],
        "gradle",
        "docs.gradle.org/current/userguide/directory_layout.html",
    ),
    rule(
        Everywhere,
        ".ivy2/cache .cache/coursier",
        &[],
        "sbt",
        "get-coursier.io/docs/cache; ant.apache.org/ivy, the cache",
    ),
    rule(
        Everywhere,
        ".cache/bazel",
        &[],
        "bazel",
        "bazel.build/remote/output-directories",
    ),
    rule(
        Everywhere,
        ".cache/composer .composer/cache",
        &[],
        "composer",
        "getcomposer.org/doc/06-config.md, cache-dir",
    ),
    rule(
        Everywhere,
        ".bundle/cache",
        &[],
        "bundle install",
        "bundler.io/man/bundle-config.1.html, user_cache",
    ),
    rule(
        Everywhere,
        ".nuget/packages",
        &[],
        "dotnet restore",
        "learn.microsoft.com/nuget/consume-packages/managing-the-global-packages-and-cache-folders",
    ),
    rule(
        Everywhere,
        ".cabal/packages .cache/cabal/packages",
        &[],
        "cabal update",
        "cabal.readthedocs.io/en/stable/config.html",
    ),
    rule(
        Everywhere,
        ".opam/download-cache",
        &[],
        "opam",
        "opam.ocaml.org/doc/man/opam-clean.html",
    ),
    rule(
        Everywhere,
        ".pub-cache/hosted",
        &[],
        "dart pub get",
        "dart.dev/tools/pub/cmd/pub-cache",
    ),
    rule(
        Everywhere,
        ".cache/clangd",
        &[],
        "clangd",
        "clangd.llvm.org/design/indexing",
    ),
    rule(
        Everywhere,
        ".cache/thumbnails",
        &[],
        "the file manager",
        "specifications.freedesktop.org/thumbnail-spec",
    ),
    rule(
        Everywhere,
        "Library/Developer/Xcode/DerivedData",
        &[],
        "Xcode",
        "developer.apple.com/documentation/xcode",
    ),
    // Caches of the system.
    rule(
        Everywhere,
        "var/cache/apt/archives",
        &[],
        "apt",
        "apt-get(8), clean",
    ),
    rule(
        Everywhere,
        "var/cache/dnf var/cache/libdnf5 var/cache/yum",
        &[],
        "dnf",
        "dnf.readthedocs.io/en/latest/command_ref.html, clean",
    ),
    rule(
        Everywhere,
        "var/cache/zypp/packages",
        &[],
        "zypper",
        "zypper(8), clean",
    ),
    // Caches that say so. Last, so that the rules above name their program.
    rule(
        Everywhere,
        "*",
        &[Inside("CACHEDIR.TAG"), Without(PROJECTS), ValidTag],
        "CACHEDIR.TAG",
        "bford.info/cachedir",
    ),
];
