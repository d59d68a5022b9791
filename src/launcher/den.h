// The den: the launcher's own root. A tmpfs with /proc, the shared /dev and the template layers mounted in it, and
// nothing of the host; a second mount namespace keeps the host's view, for opening layers later.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

enum class Writable { kNo, kYes };

class Den {
 public:
  // Moves the calling process in. An unprivileged caller first becomes root of a user namespace of its own.
  static Result<Den> dig();

  // Mounts the host directory `path` in the den; the answer is its number. One that is there already is not mounted
  // again.
  Result<int> add_layer(const std::string& path);

  // Takes it away again; sandboxes that have it keep it. Its number may be given to another.
  Result<int> drop_layer(unsigned number);

  // Detached copies, for one sandbox each. `idmap_to`: a user namespace, or -1.
  Result<Fd> clone_layer(unsigned number, int idmap_to, Writable writable) const;
  Result<Fd> clone_dev() const;
  // Makes a detached mount fit for one sandbox.
  static Result<void> shape(int tree, int idmap_to, Writable writable);

 private:
  Fd host_view_, own_view_;
  struct Layer {
    unsigned number;
    dev_t device;
    ino_t inode;
  };
  std::map<std::string, Layer> known_;
  unsigned layers_ = 0;
  std::vector<unsigned> free_;
};

}  // namespace bj
