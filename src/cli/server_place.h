// Where the running server of a data directory is, for the commands that look for it: the file server.url in there, as
// long as the server runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "server/address.h"

namespace bj {

// The url by which commands on this machine reach it. `name` empty: by its address.
std::string server_url(std::string_view scheme, const ServerAddress& address, const std::string& name);

// Written when it is made, removed when it goes. A killed server leaves it; the next one writes it anew.
class ServerPlace {
 public:
  static Result<ServerPlace> tell(const std::string& data_directory, const std::string& url);
  static std::optional<std::string> find(const std::string& data_directory);

  ServerPlace(ServerPlace&& other) noexcept : file_(std::exchange(other.file_, "")) {}
  ServerPlace& operator=(ServerPlace&&) = delete;
  ~ServerPlace();

 private:
  explicit ServerPlace(std::string file) : file_(std::move(file)) {}

  std::string file_;
};

}  // namespace bj
