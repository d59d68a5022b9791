"""Makes the hostile archives of families 5 and 28, and a few good ones, in a directory.

    python3 archives.py DIRECTORY

Nothing is unpacked here. DIRECTORY/index.json says what an import must do with each file:
  refused    the import fails with one clear sentence and leaves no template behind
  imported   the import succeeds; `look_for` is then in the template
  contained  either of the two
`limit_bytes`, where given, is the limit on unpacked bytes to import with.
In every case `must_not` must not have happened, EVIL must not exist on the host afterwards, and CANARY, which the test
made beforehand, must be unchanged.
"""
import bz2
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import zipfile

EVIL = "/var/tmp/belljar-attack-evil"
CANARY = "/var/tmp/belljar-attack-canary"
UP = "../" * 24

_makers = []


def archive(file, kind, expectation, must_not="", look_for="", limit_bytes=0):
    """Registers a function that returns the bytes of one archive; its docstring is the title."""
    def register(maker):
        described = {"file": file, "kind": kind, "expectation": expectation, "title": maker.__doc__}
        if must_not:
            described["must_not"] = must_not
        if look_for:
            described["look_for"] = look_for
        if limit_bytes:
            described["limit_bytes"] = limit_bytes
        _makers.append((described, maker))
        return maker
    return register


# Tar, entry by entry.

def entry(name, data=b"", kind=tarfile.REGTYPE, target="", mode=0o644, pax=None, **fields):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, target, mode, len(data)
    info.pax_headers = pax or {}
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def folder(name, mode=0o755):
    return entry(name, kind=tarfile.DIRTYPE, mode=mode)


def symlink(name, target):
    return entry(name, kind=tarfile.SYMTYPE, target=target)


def hard_link(name, target):
    return entry(name, kind=tarfile.LNKTYPE, target=target)


def tar(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as archive_file:
        for info, data in entries:
            archive_file.addfile(info, io.BytesIO(data))
    return out.getvalue()


def raw_header(name, size_field=b"%011o\0" % 0, kind=b"0"):
    """A ustar header with a size field of any kind; tarfile would not write a wrong one."""
    header = bytearray(512)
    header[0:len(name)] = name
    header[100:108], header[108:116], header[116:124] = b"0000644\0", b"0000000\0", b"0000000\0"
    header[124:136], header[136:148] = size_field, b"00000000000\0"
    header[148:156], header[156:157], header[257:265] = b" " * 8, kind, b"ustar\x0000"
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


ROOTFS = (folder("bin"), folder("etc"), folder("usr"), folder("usr/share"), folder("tmp", 0o1777),
          entry("etc/belljar-good", b"a good file\n"), entry("bin/hello", b"#!/bin/sh\necho hello\n", mode=0o755),
          symlink("usr/share/link", "../../etc/belljar-good"))
END = b"\0" * 1024


@archive("good.tar", "tar", "imported", look_for="etc/belljar-good")
def _():
    "a small root filesystem"
    return tar(*ROOTFS)


@archive("good.tar.gz", "tar", "imported", look_for="etc/belljar-good")
def _():
    "the same, compressed"
    return gzip.compress(tar(*ROOTFS))


@archive("good_dot_slash.tar", "tar", "imported", look_for="etc/belljar-good")
def _():
    "names that begin with ./, as `tar c .` makes them"
    return tar(folder("./"), folder("./etc"), entry("./etc/belljar-good", b"a good file\n"))


# Out of the directory.

@archive("dotdot.tar", "tar", "refused")
def _():
    "a name that climbs out"
    return tar(*ROOTFS, entry(UP + EVIL[1:], b"evil"))


@archive("dotdot_inside.tar", "tar", "refused")
def _():
    "a name that climbs out from within"
    return tar(*ROOTFS, entry("usr/" + UP + EVIL[1:], b"evil"))


@archive("absolute.tar", "tar", "contained", must_not="a file at the absolute path on the host")
def _():
    "an absolute name"
    return tar(*ROOTFS, entry(EVIL, b"evil"), entry("//" + EVIL, b"evil"))


@archive("symlink_write.tar", "tar", "contained", must_not="a file written through the link")
def _():
    "a symlink to a directory of the host, then a file in it"
    return tar(*ROOTFS, symlink("out", "/var/tmp"), entry("out/belljar-attack-evil", b"evil"))


@archive("symlink_write_relative.tar", "tar", "contained", must_not="a file written through the link")
def _():
    "the same with a relative link, in two steps"
    return tar(*ROOTFS, symlink("a", UP), symlink("b", "a/var/tmp"), entry("b/belljar-attack-evil", b"evil"))


@archive("symlink_file.tar", "tar", "contained", must_not="the target of the link overwritten")
def _():
    "a symlink to a file of the host, then a file of the same name"
    return tar(*ROOTFS, symlink("etc/file", CANARY), entry("etc/file", b"evil"))


@archive("symlink_root.tar", "tar", "contained", must_not="anything outside")
def _():
    "the root itself is a symlink"
    return tar(symlink(".", "/var/tmp"), entry("./belljar-attack-evil", b"evil"))


@archive("symlink_loop.tar", "tar", "contained", must_not="an endless walk")
def _():
    "symlinks in a circle, and a file beyond them"
    return tar(*ROOTFS, symlink("x", "y"), symlink("y", "x"), entry("x/file", b"evil"))


@archive("directory_becomes_symlink.tar", "tar", "contained", must_not="a file written through the link")
def _():
    "a directory, replaced by a symlink, then written into"
    return tar(*ROOTFS, folder("a"), entry("a/first", b"1"), symlink("a", "/var/tmp"),
               entry("a/belljar-attack-evil", b"evil"))


@archive("hard_link_outside.tar", "tar", "refused")
def _():
    "a hard link to a file of the host, then written through"
    return tar(*ROOTFS, hard_link("etc/link", CANARY), entry("etc/link", b"evil"))


@archive("hard_link_dotdot.tar", "tar", "refused")
def _():
    "a hard link that climbs out"
    return tar(*ROOTFS, hard_link("etc/link", UP + CANARY[1:]))


@archive("hard_link_by_symlink.tar", "tar", "contained", must_not="a hard link to a file of the host")
def _():
    "a hard link through a symlink"
    return tar(*ROOTFS, symlink("out", "/var/tmp"), hard_link("etc/link", "out/belljar-attack-canary"))


@archive("mount_points.tar", "tar", "contained", must_not="a mount anywhere outside when a sandbox is made of it")
def _():
    "the places where we mount are symlinks out of the root (runc CVE-2021-30465)"
    links = [symlink(name, "/var/tmp") for name in ("dev", "proc", "sys", "run", "opt", "home")]
    return tar(*ROOTFS, *links, symlink("new", UP))


@archive("mount_points_files.tar", "tar", "contained", must_not="a crash when a sandbox is made of it")
def _():
    "the places where we mount are files"
    return tar(*ROOTFS, *(entry(name, b"not a directory") for name in ("dev", "proc", "run", "opt", "home")))


# Things that are more than files.

@archive("devices.tar", "tar", "contained", must_not="a device node in the template")
def _():
    "the disk, the memory and a whiteout as device nodes"
    nodes = ((tarfile.BLKTYPE, 254, 0), (tarfile.BLKTYPE, 8, 0), (tarfile.CHRTYPE, 1, 1), (tarfile.CHRTYPE, 0, 0))
    return tar(*ROOTFS, *(entry(f"etc/node{i}", kind=kind, mode=0o666, devmajor=major, devminor=minor)
                          for i, (kind, major, minor) in enumerate(nodes)))


@archive("fifo.tar", "tar", "contained", must_not="an import that waits for a writer")
def _():
    "a FIFO, and a file of the same name after it"
    return tar(*ROOTFS, entry("etc/pipe", kind=tarfile.FIFOTYPE), entry("etc/pipe", b"data"))


@archive("setuid.tar", "tar", "imported", must_not="a setuid or setgid bit in the template",
         look_for="etc/belljar-good")
def _():
    "setuid and setgid programs of root"
    return tar(*ROOTFS, entry("bin/su", b"#!/bin/sh\n", mode=0o4755), entry("bin/wall", b"#!/bin/sh\n", mode=0o2755))


@archive("capability.tar", "tar", "imported", must_not="a security.capability attribute in the template",
         look_for="etc/belljar-good")
def _():
    "a file with all capabilities"
    everything = b"\x01\0\0\x02" + b"\xff\xff\xff\xff\0\0\0\0" * 2
    return tar(*ROOTFS, entry("bin/power", b"#!/bin/sh\n", mode=0o755, pax={
        "SCHILY.xattr.security.capability": everything.decode("utf-8", "surrogateescape")}))


@archive("overlay_attributes.tar", "tar", "contained",
         must_not="a user.overlay.* or trusted.overlay.* attribute in the template")
def _():
    "attributes that overlayfs obeys: a directory redirected out of its layer"
    return tar(*ROOTFS, *(entry(f"usr/{space}", kind=tarfile.DIRTYPE, mode=0o755, pax={
        f"SCHILY.xattr.{space}.overlay.redirect": "/../../../../var/tmp", f"SCHILY.xattr.{space}.overlay.opaque": "y",
        f"SCHILY.xattr.{space}.overlay.metacopy": ""}) for space in ("user", "trusted")))


@archive("owners.tar", "tar", "contained", must_not="a file whose owner lies outside the sandbox's range")
def _():
    "owners beyond 65535"
    return tar(*ROOTFS, entry("etc/far", b"x", uid=2**31 - 2, gid=700000),
               entry("etc/farther", b"x", uid=2**40, gid=2**40))


@archive("modes.tar", "tar", "contained", must_not="a template that cannot be removed")
def _():
    "directories that nobody may enter, in each other"
    return tar(*ROOTFS, folder("a", 0), folder("a/b", 0), entry("a/b/file", b"x", mode=0))


# Too much.

@archive("size_bomb.tar.gz", "tar", "refused", limit_bytes=256 << 20)
def _():
    "four gigabytes of zeros in four megabytes"
    member = gzip.compress(b"\0" * (64 << 20), 9)  # gzip members may simply follow each other
    return gzip.compress(raw_header(b"zeros", b"%011o\0" % (4 << 30))) + member * 64 + gzip.compress(END)


@archive("size_bomb.tar.bz2", "tar", "refused", limit_bytes=256 << 20)
def _():
    "the same in a few kilobytes"
    member = bz2.compress(b"\0" * (16 << 20))
    return bz2.compress(raw_header(b"zeros", b"%011o\0" % (4 << 30))) + member * 256 + bz2.compress(END)


@archive("sparse_bomb.tar", "tar", "refused", limit_bytes=256 << 20)
def _():
    "a sparse file of four terabytes, without data"
    pax = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "etc/sparse",
           "GNU.sparse.realsize": str(4 << 40)}
    return tar(*ROOTFS, entry("etc/GNUSparseFile.0/sparse", b"1\n%d\n0\n" % (4 << 40) + b"\0" * 400, pax=pax))


@archive("many_entries.tar.gz", "tar", "contained", must_not="200,000 inodes above the template's limit")
def _():
    "200,000 empty files"
    return gzip.compress(b"".join(raw_header(b"f%d" % number) for number in range(200000)) + END, 6)


@archive("deep.tar", "tar", "contained", must_not="a stack overflow, or a template that cannot be removed")
def _():
    "a directory tree 2,000 levels deep"
    return tar(*ROOTFS, entry("d/" * 2000 + "file", b"x"))


# Names.

@archive("long_name.tar", "tar", "refused")
def _():
    "a name of 100,000 bytes"
    return tar(*ROOTFS, entry("n" * 100000, b"x"))


@archive("long_component.tar", "tar", "refused")
def _():
    "a component of 300 bytes, which no filesystem takes"
    return tar(*ROOTFS, entry("etc/" + "n" * 300, b"x"))


@archive("nul_name.tar", "tar", "contained", must_not="two readers that see two names")
def _():
    "a NUL in the middle of a name"
    return tar(*ROOTFS, entry("short", b"x", pax={"path": "etc/harmless\0/../../" + EVIL}))


@archive("odd_names.tar", "tar", "contained", must_not="raw escape sequences in our output")
def _():
    "line ends, escape sequences, HTML and bytes that are not UTF-8"
    names = ("etc/\n", "etc/\x1b]0;owned\x07", "etc/<script>alert(1)<script>", "etc/\udcff\udcfe", "etc/ ", "etc/-rf")
    return tar(*ROOTFS, *(entry(name, b"x") for name in names))


# Not what it says it is.

@archive("empty_file.tar", "tar", "refused")
def _():
    "no bytes at all"
    return b""


@archive("empty.tar", "tar", "refused")
def _():
    "an archive with nothing in it"
    return b"\0" * 10240


@archive("truncated.tar", "tar", "refused")
def _():
    "cut off in the middle of a file"
    return tar(*ROOTFS, entry("big", b"x" * 100000))[:40000]


@archive("truncated.tar.gz", "tar", "refused")
def _():
    "a compressed archive cut off"
    whole = gzip.compress(tar(*ROOTFS, entry("big", os.urandom(100000))))
    return whole[:len(whole) // 2]


@archive("bad_checksum.tar", "tar", "refused")
def _():
    "a header whose checksum is wrong"
    damaged = bytearray(tar(*ROOTFS))
    damaged[5 * 512 + 3] ^= 0xFF
    return bytes(damaged)


@archive("negative_size.tar", "tar", "refused")
def _():
    "a size below zero"
    return raw_header(b"negative", b"\xff" * 12) + b"x" * 512 + END


@archive("lying_size.tar", "tar", "refused")
def _():
    "a size of eight gigabytes, and ten bytes"
    return raw_header(b"liar", b"77777777777\0") + b"0123456789"


@archive("zip.tar", "tar", "refused", must_not="a file outside")
def _():
    "a zip archive, with a name that climbs out"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("etc/belljar-good", "a good file\n")
        zipped.writestr(UP + EVIL[1:], "evil")
    return out.getvalue()


@archive("garbage.tar", "tar", "refused")
def _():
    "random bytes"
    return os.urandom(8192)


# Docker archives: manifest.json, a config, layers.

def sha256(data):
    return hashlib.sha256(data).hexdigest()


def docker(*layers, names=None, extra=(), diff_ids=None, config=None, manifest=None):
    names = names or [f"layer{number}.tar" for number in range(len(layers))]
    settings = {"architecture": "amd64", "os": "linux", "config": config or {"Env": ["PATH=/bin"]},
                "rootfs": {"type": "layers", "diff_ids": diff_ids or ["sha256:" + sha256(layer) for layer in layers]}}
    parts = [entry("manifest.json", manifest if manifest is not None else json.dumps(
        [{"Config": "config.json", "RepoTags": ["good:latest"], "Layers": names}]).encode())]
    parts.append(entry("config.json", json.dumps(settings).encode()))
    parts += [entry(name, layer) for name, layer in zip(names, layers)]
    return tar(*parts, *extra)


LAYER = tar(*ROOTFS)
SECOND = tar(folder("etc"), entry("etc/second", b"2"))


@archive("good.docker.tar", "docker", "imported", look_for="etc/belljar-good")
def _():
    "two layers"
    return docker(LAYER, SECOND)


@archive("good_whiteouts.docker.tar", "docker", "imported", look_for="usr/new",
         must_not="etc/belljar-good or usr/share in the template: the second layer deletes them")
def _():
    "a whiteout and an opaque directory that mean what they say"
    return docker(LAYER, tar(entry("etc/.wh.belljar-good"), folder("usr"), entry("usr/.wh..wh..opq"),
                             entry("usr/new", b"new")))


@archive("layer_dotdot.docker.tar", "docker", "refused")
def _():
    "the manifest names a layer outside the archive"
    return docker(LAYER, names=[UP + CANARY[1:]])


@archive("layer_absolute.docker.tar", "docker", "refused")
def _():
    "the manifest names a file of the host as a layer"
    manifest = [{"Config": "config.json", "RepoTags": None, "Layers": [CANARY]}]
    return docker(LAYER, manifest=json.dumps(manifest).encode())


@archive("layer_symlink.docker.tar", "docker", "refused")
def _():
    "a layer that is a symlink to a file of the host"
    manifest = [{"Config": "config.json", "RepoTags": None, "Layers": ["out/layer.tar"]}]
    return docker(LAYER, manifest=json.dumps(manifest).encode(), extra=[symlink("out/layer.tar", CANARY)])


@archive("config_symlink.docker.tar", "docker", "refused")
def _():
    "a config that is a symlink to a file of the host"
    manifest = [{"Config": "secret.json", "RepoTags": None, "Layers": ["layer0.tar"]}]
    return docker(LAYER, manifest=json.dumps(manifest).encode(), extra=[symlink("secret.json", "/etc/shadow")])


@archive("layer_missing.docker.tar", "docker", "refused")
def _():
    "a layer that is not there"
    return docker(LAYER, manifest=b'[{"Config":"config.json","RepoTags":null,"Layers":["nowhere.tar"]}]')


@archive("wrong_diff_id.docker.tar", "docker", "refused")
def _():
    "a layer whose digest is not the config's"
    return docker(LAYER, diff_ids=["sha256:" + "0" * 64])


@archive("many_layers.docker.tar", "docker", "refused")
def _():
    "the same layer 50,000 times"
    names = ["layer0.tar"] * 50000
    return docker(LAYER, diff_ids=["sha256:" + sha256(LAYER)] * 50000,
                  manifest=json.dumps([{"Config": "config.json", "RepoTags": None, "Layers": names}]).encode())


@archive("deep_manifest.docker.tar", "docker", "refused")
def _():
    "a manifest nested 100,000 levels deep"
    return docker(LAYER, manifest=b"[" * 100000 + b"]" * 100000)


@archive("broken_manifest.docker.tar", "docker", "refused")
def _():
    "a manifest of the wrong types"
    return docker(LAYER, manifest=b'[{"Config":7,"RepoTags":{},"Layers":"layer0.tar"}]')


@archive("no_manifest.docker.tar", "docker", "refused")
def _():
    "no manifest at all"
    return tar(entry("config.json", b"{}"), entry("layer0.tar", LAYER))


@archive("config_hooks.docker.tar", "docker", "contained",
         must_not="any of these obeyed outside, or a dangerous variable handed to our own programs")
def _():
    "a config with commands, a root outside and variables for the loader"
    return docker(LAYER, config={
        "User": "0:0; touch " + EVIL, "WorkingDir": UP, "Entrypoint": ["/bin/sh", "-c", "touch " + EVIL],
        "Env": ["LD_PRELOAD=/evil.so", "PYTHONSTARTUP=/evil.py", "NOEQUALS", "=", "A" * 100000 + "=1"],
        "Volumes": {"/etc": {}, UP: {}}, "Healthcheck": {"Test": ["CMD-SHELL", "touch " + EVIL]},
        "OnBuild": ["RUN touch " + EVIL], "Labels": {"belljar.mounts": "/:/host"}})


@archive("whiteout_dotdot.docker.tar", "docker", "contained", must_not="anything deleted outside the template")
def _():
    "whiteouts of `..`, `.` and nothing"
    return docker(LAYER, tar(entry(".wh..."), entry(".wh.."), entry(".wh."), entry("etc/.wh..."), entry("../.wh.etc")))


@archive("whiteout_by_symlink.docker.tar", "docker", "contained", must_not="the canary deleted")
def _():
    "the first layer makes a symlink out, the second deletes through it"
    return docker(tar(*ROOTFS, symlink("out", "/var/tmp")),
                  tar(entry("out/.wh.belljar-attack-canary"), entry("out/.wh..wh..opq")))


@archive("write_by_symlink.docker.tar", "docker", "contained", must_not="a file written through the link")
def _():
    "the first layer makes a symlink out, the second writes through it"
    return docker(tar(*ROOTFS, symlink("out", "/var/tmp")), tar(entry("out/belljar-attack-evil", b"evil")))


# OCI archives: oci-layout, index.json, blobs by digest.

class Oci:
    def __init__(self):
        self.blobs = {}
        self.extra = []
        self.layout = b'{"imageLayoutVersion":"1.0.0"}'

    def blob(self, data, media_type, **changes):
        digest = sha256(data)
        self.blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": "application/vnd.oci.image." + media_type, "digest": "sha256:" + digest,
                "size": len(data), **changes}

    def image(self, layers, diff_ids):
        config = self.blob(json.dumps({"architecture": "amd64", "os": "linux",
                                       "rootfs": {"type": "layers", "diff_ids": diff_ids}}).encode(), "config.v1+json")
        manifest = json.dumps({"schemaVersion": 2, "config": config, "layers": layers})
        return self.blob(manifest.encode(), "manifest.v1+json")

    def pack(self, *manifests):
        index = json.dumps({"schemaVersion": 2, "manifests": list(manifests)}).encode()
        return tar(entry("oci-layout", self.layout), entry("index.json", index), *self.extra,
                   *(entry(name, data) for name, data in self.blobs.items()))


def one_layer(**changes):
    """An image of one compressed layer; `changes` go into the layer's descriptor."""
    oci = Oci()
    layer = oci.blob(gzip.compress(LAYER, mtime=0), "layer.v1.tar+gzip", **changes)
    return oci, oci.image([layer], ["sha256:" + sha256(LAYER)])


@archive("good.oci.tar", "oci", "imported", look_for="etc/belljar-good")
def _():
    "one compressed layer"
    oci, manifest = one_layer()
    return oci.pack(manifest)


@archive("wrong_digest.oci.tar", "oci", "refused")
def _():
    "a layer whose bytes are not those of its digest"
    oci, manifest = one_layer()
    name = next(name for name, data in oci.blobs.items() if data[:2] == b"\x1f\x8b")
    oci.blobs[name] = gzip.compress(tar(*ROOTFS, entry("etc/evil", b"evil")), mtime=0)
    return oci.pack(manifest)


@archive("wrong_size.oci.tar", "oci", "refused")
def _():
    "a descriptor with another size than its blob"
    oci, manifest = one_layer(size=7)
    return oci.pack(manifest)


@archive("digest_dotdot.oci.tar", "oci", "refused")
def _():
    "a digest that is a path"
    oci, manifest = one_layer(digest="sha256:" + UP + CANARY[1:])
    return oci.pack(manifest)


@archive("digest_unknown.oci.tar", "oci", "refused")
def _():
    "a digest of an algorithm that nobody should trust"
    oci, manifest = one_layer(digest="md5:d41d8cd98f00b204e9800998ecf8427e")
    return oci.pack(manifest)


@archive("blob_symlink.oci.tar", "oci", "refused")
def _():
    "a blob that is a symlink to a file of the host"
    oci, manifest = one_layer()
    name = next(name for name, data in oci.blobs.items() if data[:2] == b"\x1f\x8b")
    del oci.blobs[name]
    oci.extra.append(symlink(name, CANARY))
    return oci.pack(manifest)


@archive("foreign_layer.oci.tar", "oci", "refused", must_not="a request to the address in the descriptor")
def _():
    "a layer to be fetched from the metadata service"
    oci, manifest = one_layer()
    layer = {"mediaType": "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
             "digest": "sha256:" + "1" * 64, "size": 100,
             "urls": ["http://169.254.169.254/latest/meta-data/", "file:///etc/shadow"]}
    return oci.pack(oci.image([layer], ["sha256:" + "2" * 64]))


@archive("many_layers.oci.tar", "oci", "refused")
def _():
    "the same layer 20,000 times"
    oci = Oci()
    layer = oci.blob(gzip.compress(LAYER, mtime=0), "layer.v1.tar+gzip")
    return oci.pack(oci.image([layer] * 20000, ["sha256:" + sha256(LAYER)] * 20000))


@archive("nested_index.oci.tar", "oci", "refused")
def _():
    "an index in an index, a thousand times"
    oci, manifest = one_layer()
    for _ in range(1000):
        manifest = oci.blob(json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode(), "index.v1+json")
    return oci.pack(manifest)


@archive("layer_bomb.oci.tar", "oci", "refused", limit_bytes=256 << 20)
def _():
    "a small layer that unpacks to four gigabytes"
    oci = Oci()
    bomb = (gzip.compress(raw_header(b"zeros", b"%011o\0" % (4 << 30)), mtime=0)
            + gzip.compress(b"\0" * (64 << 20), 9, mtime=0) * 64 + gzip.compress(END, mtime=0))
    return oci.pack(oci.image([oci.blob(bomb, "layer.v1.tar+gzip")], ["sha256:" + "3" * 64]))


@archive("lying_media_type.oci.tar", "oci", "contained", must_not="a crash")
def _():
    "a layer that says it is a tar and is gzip in gzip"
    oci = Oci()
    layer = oci.blob(gzip.compress(gzip.compress(LAYER, mtime=0), mtime=0), "layer.v1.tar")
    return oci.pack(oci.image([layer], ["sha256:" + sha256(LAYER)]))


@archive("no_layout.oci.tar", "oci", "refused")
def _():
    "an index without manifests, and a layout of the future"
    oci = Oci()
    oci.layout = b'{"imageLayoutVersion":"99"}'
    return oci.pack()


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for made, maker in _makers:
        with open(os.path.join(directory, made["file"]), "wb") as file:
            file.write(maker())
    with open(os.path.join(directory, "index.json"), "w") as index:
        json.dump({"evil": EVIL, "canary": CANARY, "archives": [made for made, _ in _makers]}, index, indent=1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: archives.py DIRECTORY")
    main(sys.argv[1])
