// Makes a template of a root filesystem that comes from somewhere else: a directory, a tar (plain, gzip, xz, bzip2,
// zstd), a docker-archive (docker save) or an OCI image (an archive or a layout directory). All of it is hostile input.
//
// A child process does the reading, confined before it reads the first byte (import_confine.h): it can write only below
// the new directory and talk only over one pipe, whose lines are checked (import_report.h). The parent never opens what
// the child wrote.
//
// The template appears whole or not at all: it is built as <templates_directory>/.import-XXXXXX and renamed. A failure
// removes that; after a kill -9 the next import does (the directory is locked as long as its import lives).
//
// Call it from a process without threads: the child is a plain clone that goes on to use the heap.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "engine/import/import_entry.h"
#include "engine/import/import_report.h"

namespace bj {

// Makes <templates_directory>/<name>/{rootfs,template.json}. An existing name is refused. `progress` may be empty; it
// is called in this process, a few times a second. A failure is one sentence that says what to do.
Result<ImportReport> import_template(const std::string& templates_directory, const std::string& name,
                                     const std::string& source, const ImportLimits& limits,
                                     const std::function<void(const ImportProgress&)>& progress);

}  // namespace bj
