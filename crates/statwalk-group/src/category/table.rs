// SPDX-License-Identifier: MIT OR Apache-2.0

//! The category of each known extension and of each known whole name.
//!
//! The comment above a row names its origin:
//!
//! - *mime*: the database shared-mime-info 2.2 (`/usr/share/mime/globs2`) gives the
//!   extension a type of this class, such as `image/png`, perhaps among others.
//! - *own*: the database has no such extension, or a type that is rare on a Unix machine.
//!   The documentation of the program that writes such files is the origin.
//!
//! `application/…` and `text/…` are no classes; so the choice among categories is ours
//! there, and the database confirms the kind of file alone.

use super::Category;

/// Extensions without their dot, in lower case.
pub(super) const EXTENSIONS: &[(Category, &str)] = &[
    // mime: image/*, application/illustrator.
    (
        Category::Image,
        "ai arw avif avifs bmp cr2 cr3 crw dcr dds djv djvu dng emf eps exr gif heic heif \
         hif icns ico j2k jng jp2 jpe jpeg jpf jpg jpx jxl kdc kra ktx ktx2 nef nrw orf pbm \
         pcx pef pgm pict png pnm ppm psd raf raw rw2 sr2 srf svg svgz tga tif tiff wbmp \
         webp wmf x3f xbm xcf xpm",
    ),
    // own: Photoshop's large documents, JPEG XR, Radiance.
    (Category::Image, "hdr jxr psb"),
    // mime: video/*, application/mxf, application/vnd.rn-realmedia, application/x-subrip.
    (
        Category::Video,
        "3g2 3gp 3gpp asf avi divx dv f4v flv fxm m1u m2t m2ts m4v mjpeg mjpg mk3d mkv mov \
         mp4 mpe mpeg mpg mts mxf nsv ogm ogv qt rm rmvb srt sub vob webm wmv",
    ),
    // mime: audio/*. m3u and m3u8 are lists of audio files.
    (
        Category::Audio,
        "aac ac3 aif aifc aiff amr ape au awb dff dsf dts f4a flac gsm it kar m3u m3u8 m4a \
         m4b mid midi mka mp2 mp3 mpc oga ogg opus ra s3m sid snd spx voc wav wma wv xm",
    ),
    // mime: the archive formats below application/*, compressed files among them.
    (
        Category::Archive,
        "7z ace alz ar arj bz bz2 cab cb7 cbr cbz cpio dar gz lha lrz lz lz4 lzh lzma lzo \
         par2 rar shar sit tar taz tb2 tbz tbz2 tgz tlz txz tzst wim xar xz z zip zipx zoo \
         zst zz",
    ),
    // own: brotli, borg and other tools of compression and backup.
    (Category::Archive, "br rz sz tbr zpaq"),
    // mime: application/pdf, the formats of office programs, books, text/plain, TeX.
    (
        Category::Document,
        "abw azw3 bib chm dbk doc docbook docm docx dot dotx dvi epub fb2 fodp fods fodt \
         gnumeric hlp hwp ipynb key latex ltx lyx man markdown md me mkd mm mobi nb nfo \
         numbers odf odg odp ods odt org ott oxps pages pdf potx pps ppsx ppt pptm pptx ps \
         rst rtf sxc sxi sxw tex texi texinfo txt vsd vsdx wpd wps wri xls xlsb xlsm xlsx \
         xlt xltx xps",
    ),
    // own: AsciiDoc, GNU info, Typst, R Markdown.
    (Category::Document, "adoc asciidoc djvutxt info qmd rmd typ"),
    // mime: the source types of text/* and application/*.
    (
        Category::Source,
        "adb ads awk c c++ cbl cc cl cls cmake cob coffee cpp cr cs csh cxx d dart diff e \
         eif el erl ex exs f f90 f95 feature for gd go gradle groovy gs h h++ hh hp hpp hs \
         hxx idl java js jsm kt lhs lisp lua m m4 mak mjs mk ml mli moc pas patch php php3 \
         php4 php5 phps pl pm po pot py py3 pyi pyx qml rb rs sage sc scala scm sh sv svh t \
         tcl tk ui v vala vapi vbs vhd vhdl wsgi",
    ),
    // own: the languages' own documentation. The database takes ts for video, vb for a game.
    (
        Category::Source,
        "asm bash bat bzl cjs clj cljs cmd cts cu cuh ebuild f03 f08 fish fs fsx glsl hlsl \
         hrl inc inl ipp jl jsx ksh kts l ld ll nim nix ps1 psm1 pxd r rake re s sol svelte \
         swift tf tpp ts tsx vb vue wat xs y yy zig zsh",
    ),
    // mime: x-object, x-sharedlib, x-archive, x-java, x-python-bytecode, x-ms-dos-executable,
    // x-shared-library-la.
    (Category::Object, "a class exe la o pyc pyo so"),
    // own: compilers, linkers and kernels. The database takes mod for music, obj for drawings.
    (
        Category::Object,
        "bc beam cma cmi cmo cmx cmxa dbg debug dll dwo dwp dylib efi elc elf gcda gch gcno \
         hi ko lib lo mod node obj ocx pch pyd rlib rmeta sys wasm",
    ),
    // mime: the disk images and flat machines below application/*.
    (
        Category::Machine,
        "img iso ova qcow qcow2 qed raw-disk-image sqsh toc vdi vhdx vmdk",
    ),
    // own: VMware, VirtualBox, Hyper-V, QEMU, Apptainer, squashfs.
    (
        Category::Machine,
        "avhd avhdx hdd nvram ovf sif simg squashfs vbox vmem vmsd vmsn vmss vmx vswp",
    ),
    // mime: x-sqlite2, vnd.sqlite3, vnd.ms-access, x-dbf, vnd.oasis.opendocument.database, sql.
    (Category::Database, "dbf kexi mdb odb sql sqlite2 sqlite3"),
    // own: SQLite, MySQL, PostgreSQL, LevelDB, RocksDB, LMDB, Berkeley DB and others.
    (
        Category::Database,
        "accdb bdb db db-journal db-shm db-wal db3 duckdb frm gdbm ibd kdbx ldb ldf mdf myd \
         myi ndf rdb realm sqlite sqlite-shm sqlite-wal sqlitedb sst wt",
    ),
    // mime: text/x-log.
    (Category::Log, "log"),
    // own: systemd, Windows, logs of errors and of traces.
    (Category::Log, "err evtx journal trace"),
    // own: caches name themselves.
    (Category::Cache, "cache cached ccache"),
    // mime: the packages below application/*.
    (
        Category::Package,
        "apk appimage deb dmg flatpak flatpakref gem jar msi pkg rpm snap spm udeb xpi",
    ),
    // own: Python, Rust, Java, Conda, Android, NuGet, Arch Linux, Visual Studio Code.
    (
        Category::Package,
        "aab aar conda crate dsc ear egg ipa ipk jmod msix nupkg vsix war whl xbps",
    ),
    // mime: font/*, x-font-*.
    (
        Category::Font,
        "afm bdf otf pcf pfa pfb psf ttc ttf woff woff2",
    ),
    // own: TeX.
    (Category::Font, "eot tfm vf"),
    // mime: text/html, text/css and kin, the feeds.
    (
        Category::Web,
        "asp atom css htm html mht mhtml rss sass scss twig xht xhtml xslt",
    ),
    // own: source maps, templates, servers' pages.
    (
        Category::Web,
        "aspx ejs haml har hbs jsp less map mustache phtml warc webmanifest",
    ),
    // mime: text/csv, application/json and xml, the scientific formats, gettext.
    (
        Category::Data,
        "cdf csv csvs dcm dtd fit fits geojson gml gmo gpx h4 h5 hdf hdf4 hdf5 ics json \
         jsonld kml kmz ldif mo nc opml owl pcap por qif rdf rnc rng sav srx torrent tsv \
         ttl vcf wks xml xsd xsl",
    ),
    // own: Arrow, Parquet, NumPy, R, Protocol Buffers and others.
    (
        Category::Data,
        "arrow avro bam bed bigwig bson capnp cbor cram dat data dta fa fasta fastq feather \
         fq gff gff3 grib grib2 gtf jsonl las laz mat msgpack ndjson npy npz orc parquet pb \
         pcapng pickle pkl proto rda rdata rds root sam sas7bdat shp shx tfrecord vtk vtu \
         xyz zarr",
    ),
    // own: the formats of weights, by the programs that write them.
    (
        Category::Model,
        "ckpt ggml gguf joblib keras mlmodel onnx pt pth safetensors tflite",
    ),
    // mime: application/toml, x-yaml, x-desktop, the units of systemd.
    (
        Category::Configuration,
        "automount desktop device manifest mount path pkpass reg service slice socket swap \
         target theme timer toml url yaml yml",
    ),
    // own: programs' own files of settings.
    (
        Category::Configuration,
        "cfg cnf conf config env gitignore hcl htaccess inf ini json5 lock netdev network \
         nmconnection plist prefs properties props rules sysctl tfvars",
    ),
    // mime: pgp-*, pkcs*, pkix-*, x-x509-ca-cert, x-java-keystore.
    (
        Category::Key,
        "asc cer cert crl crt der gpg jceks jks ks p10 p12 p7b p7c p7s p8 pem pfx pgp pkr \
         sig skr spc",
    ),
    // own: OpenSSH, GnuPG, OpenSSL. The database takes pub for a Publisher document.
    (Category::Key, "age csr kbx keystore ppk pub"),
    // mime: application/x-trash, x-partial-download, text/x-reject.
    (
        Category::Temporary,
        "bak crdownload old part rej sik wkdownload",
    ),
    // own: editors, package managers, downloads.
    (
        Category::Temporary,
        "backup dpkg-dist dpkg-new dpkg-old dpkg-tmp orig pacnew pacsave partial rpmnew \
         rpmorig rpmsave save swn swo swp temp tmp",
    ),
    // mime: message/*, application/mbox, vnd.ms-tnef.
    (Category::Mail, "eml mbox tnef"),
    // own: Outlook and Thunderbird.
    (Category::Mail, "dbx msf msg ost pst"),
    // mime: model/*, x-blender, image/vnd.dwg, image/vnd.dxf.
    (
        Category::Design,
        "3ds 3mf blend dwg dxf glb gltf iges igs lwo stl vrml wrl",
    ),
    // own: FBX, STEP, FreeCAD, SketchUp, Gerber.
    (Category::Design, "dae fbx fcstd ply skp step stp usd usdz"),
];

/// Whole names, as they stand, without a dot but the first byte.
pub(super) const NAMES: &[(Category, &str)] = &[
    // own: files of the system's logs (Debian, Red Hat) and of the tools that read them.
    (
        Category::Log,
        "alternatives btmp cron dmesg faillog lastlog maillog messages secure spooler syslog \
         wtmp",
    ),
    // mime: text/x-makefile, text/x-readme, text/x-authors and kin.
    (Category::Source, "Makefile makefile GNUmakefile"),
    // own: builds.
    (
        Category::Source,
        "BUILD Containerfile Dockerfile Gemfile Jenkinsfile Justfile Kbuild Kconfig Procfile \
         Rakefile SConstruct Vagrantfile WORKSPACE configure gradlew justfile mvnw",
    ),
    // mime: text/x-readme, text/x-install, text/x-copying, text/x-credits, text/x-authors.
    (Category::Document, "AUTHORS COPYING CREDITS INSTALL README"),
    // own: the same words of other projects; Debian's changelog and copyright.
    (
        Category::Document,
        "CHANGELOG CHANGES ChangeLog LICENCE LICENSE MAINTAINERS NEWS NOTICE THANKS TODO \
         UNLICENSE VERSION changelog copyright",
    ),
    // own: shells, editors, git.
    (
        Category::Configuration,
        ".bash_logout .bash_profile .bashrc .dockerignore .editorconfig .env .gitattributes \
         .gitconfig .gitignore .gitmodules .htaccess .inputrc .npmrc .profile .vimrc \
         .wgetrc .zshenv .zshrc fstab hostname hosts inputrc passwd",
    ),
    // own: OpenSSH.
    (
        Category::Key,
        "authorized_keys id_dsa id_ecdsa id_ed25519 id_rsa known_hosts shadow",
    ),
    // own: the kernel and its first file system.
    (Category::Object, "vmlinux vmlinuz"),
];
