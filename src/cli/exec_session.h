// One command in a fresh sandbox from its start to its end, with every limit watched.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/settings.h"
#include "engine/engine.h"

namespace bj {

struct ExecRequest {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::vector<MountSpec> mounts;
  std::string user, directory;  // empty: the template's
  NetworkPolicy network;        // nothing: none
  GateCredentials credentials;  // that the gate gives to requests
  bool input = false;           // our stdin goes in
  bool terminal = false;
};

// Returns the exit status; what went wrong was told on stderr. The sandbox is gone afterwards.
Task<int> execute(Engine& engine, ExecRequest request, Settings settings);

// wait(2)'s status as shells tell it: the exit status, or 128 + signal.
int shell_status(int wait_status);

}  // namespace bj
