// The running server's API, for commands about what lives in it. Blocks; one request at a time.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"
#include "cli/settings.h"

namespace bj {

struct ServerEvent {
  std::string name;
  boost::json::value data;
};

// Told how many bytes have moved, of how many (0: not known).
using Progress = std::function<void(uint64_t done, uint64_t all)>;

class ServerClient {
 public:
  // `url` empty: BELLJAR_SERVER, else the running server of the data directory. The key: BELLJAR_API_KEY, else
  // admin.key of the data directory.
  static Result<ServerClient> open(const Settings& settings, std::string url);
  ServerClient(ServerClient&&) noexcept;
  ServerClient& operator=(ServerClient&&) noexcept;
  ~ServerClient();

  const std::string& url() const { return url_; }
  const Secret& key() const { return key_; }

  // Null for an empty answer. A refusal is an error with the server's own sentence.
  Result<boost::json::value> ask(const std::string& method, const std::string& path,
                                 const std::optional<boost::json::value>& body = std::nullopt);
  // An answer of server-sent events, each as it comes.
  Result<void> listen(const std::string& method, const std::string& path, const std::optional<boost::json::value>& body,
                      const std::function<void(const ServerEvent&)>& on_event);
  // Bytes as they are.
  Result<void> post(const std::string& path, std::string bytes);
  // From and to open files of the user's.
  Result<void> upload(const std::string& path, int from, const Progress& progress);
  Result<void> download(const std::string& path, int to, const Progress& progress);

  // For a query.
  static std::string escaped(std::string_view text);

 private:
  struct Transfer;
  ServerClient(std::string url, Secret key);
  Result<void> perform(Transfer& transfer, const std::string& method, const std::string& path);

  std::string url_;
  Secret key_;
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace bj
