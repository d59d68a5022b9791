// The disk of a volume: a sparse file that holds a filesystem, so that its size is a limit that holds, whatever the
// data directory lies on. It is mounted through a loop device, as often as it is wanted: all mounts are of one
// filesystem, and the kernel lets go of it with the last. Nothing here looks into it: its content is the sandboxes'.
#pragma once

#include <memory>
#include <string>

#include "base/async.h"
#include "engine/host.h"
#include "engine/templates/template.h"

namespace bj {

// Why there can be no volumes here, if so.
Result<void> check_volumes(const Host& host);

// A new disk at `path`, empty, its top owned by user and group 1000 inside. Made by mke2fs in a sandbox of its own. A
// failure leaves nothing.
Task<Result<void>> make_volume_disk(Host& host, Template base, std::string path, uint64_t size_bytes);

// A detached mount of it. Blocks: call it on a worker.
Result<Fd> mount_volume_disk(const std::string& path);

}  // namespace bj
