// Layers on disk: what sandboxes have written, sealed. Each is a directory <directory>/<id>/ that never changes again:
// one tree a target of its sandbox's root ("0", "1", ...), in the form of an overlay's upper directory with ids from 0,
// and layer.json. Put above the layers that its sandbox had, it shows that sandbox's files.
//
// A layer appears whole or not at all: it is made under another name, locked by its maker, and renamed. It then is as
// safe as the page cache: a server that is killed loses nothing. make_durable() also makes it outlive the machine's end
// (everything on that filesystem is written, then a mark is left, then that is written). After a machine's end a layer
// without the mark is told to be lost, never shown half.
//
// Who refers to layers is not known here. One that was just made or found stays locked as long as its Layer is held, so
// that remove_unless() can't take it from who is about to refer to it.
//
// Several processes may use one directory. Everything blocks: call it on a worker.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/layers/layer.h"

namespace bj {

class LayerStore {
 public:
  explicit LayerStore(std::string directory) : directory_(std::move(directory)) {}

  // The sandbox must stand still, or be over.
  Result<Layer> capture(const UpperFiles& upper, const LayerLimits& limits = {},
                        const std::atomic<bool>* stop = nullptr) const;
  // One that shows what these show together, the lowest first, and shares their files.
  Result<Layer> join(const std::vector<std::string>& ids) const;
  // kNotFound: there is none. kUnavailable: the machine ended before it was on disk.
  Result<Layer> find(const std::string& id) const;
  Result<void> make_durable(const std::string& id) const;
  // A missing one is no failure, a held one is kept.
  Result<void> remove(const std::string& id) const;
  Result<std::vector<std::string>> ids() const;
  // Removes what nobody makes, holds or refers to: for the start of a server. Yields how many layers went.
  Result<size_t> remove_unless(const std::function<bool(const std::string& id)>& referred) const;
  const std::string& directory() const { return directory_; }

 private:
  using Fill = std::function<Result<void>(const Fd& dir, Layer& layer)>;
  Result<Layer> make(const Fill& fill) const;
  Result<Fd> open_directory() const;

  std::string directory_;
};

// The root that shows `layer` above what `image` has. Everything else is the image's.
Template stacked(Template image, const Layer& layer);

}  // namespace bj
