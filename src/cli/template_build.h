// belljar template build and pull: what is built in the server, from files of this machine, with its log as it comes.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/server_client.h"

namespace bj {

struct TemplateBuildFlags {
  std::string name;
  std::string file;       // the text; empty: <directory>/Belljarfile, else <directory>/Dockerfile
  std::string manifest;   // one that comes with Belljar, in place of a file
  std::string directory;  // where COPY finds its files
  std::string image;      // of pull: in place of a text
  std::vector<std::string> tags;
  std::string start, ready, user, password_variable, network;
  double cpus = 0;
  std::string memory;
  bool force = false;
};

// The exit status: 1 if the build failed, which its log told.
Result<int> build_template(ServerClient& server, const TemplateBuildFlags& flags, bool json);

}  // namespace bj
