// A template: read-only directories that become a sandbox's root, and its defaults.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace bj {

// Neighbours with the same target are one directory inside: what a layer has, it shows instead of the next one's; its
// whiteouts hide.
struct TemplateLayer {
  std::string path;    // on the host
  std::string target;  // in the sandbox, "/" first
};

struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home = "/";
};

// Who has that name, or number, in the text of an /etc/passwd.
std::optional<Account> account_in(const std::string& accounts, const std::string& user_name);

struct Template {
  std::string name;
  std::vector<TemplateLayer> layers;
  std::map<std::string, std::string> environment;
  std::string user = "user";
  std::string workdir;  // where processes start; empty: in their user's home
  bool sudo = true;
  std::string start_command;  // run in the background in each new sandbox that lives; empty: none
  std::string ready_command;  // such a sandbox is ready when this ends with 0; empty: at once

  // Of its layers, in their order.
  std::vector<std::string> targets() const;

  // An account of the template's own /etc/passwd, or a number.
  Result<Account> account(const std::string& user_name) const;
};

// The templates in a data directory: <root>/<name>/. Made and read by several processes at once: each appears whole.
class TemplateStore {
 public:
  explicit TemplateStore(std::string directory) : directory_(std::move(directory)) {}

  // `base` is made at its first use (and again when the host's system has changed).
  Result<Template> find(const std::string& name) const;
  Result<std::vector<std::string>> names() const;
  Result<void> remove(const std::string& name) const;
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

// Where programs are looked for unless an image says otherwise: ours (sudo) first.
std::string default_path();

// True for [a-z0-9][a-z0-9._-]{0,63}: what a template may be called.
bool valid_template_name(const std::string& name);

// The directories that every root needs for our mounts and for user `user`, made where they are missing, and the
// account itself. `root` is a directory of ours that no sandbox can change.
Result<void> complete_root(const std::string& root);

// Makes <directory>/base from a curated view of the host's system, unless it is there and current.
Result<Template> ensure_base_template(const std::string& directory);

}  // namespace bj
