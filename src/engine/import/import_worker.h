// The unpacking itself, in the confined child of template_import.cc: finds out what the source is and writes its root
// filesystem. It sees the world only through the descriptors of its cell.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "engine/import/import_confine.h"
#include "engine/import/import_directory.h"
#include "engine/import/import_report.h"

namespace bj {

struct ImportWork {
  ImportCell cell;
  std::string label;      // of the source, for messages; printable
  FileIdentity excluded;  // never copied: the template store
  std::function<void(const ImportProgress&)> progress;
};

// The working directory is the new template's, with the directory "rootfs" in it.
Result<ImportReport> unpack_source(const ImportWork& work);

}  // namespace bj
