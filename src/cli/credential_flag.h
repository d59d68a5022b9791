// --credential: a secret that the gate gives to requests, for trying it without a server. Values come from files and
// variables, never from the command line, which others can read.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "egress/credential.h"

namespace bj {

// "NAME=SOURCE:HOST[:HEADER[:FORMAT]]", the source @FILE or the name of a variable of our environment: as
// Authorization: Bearer unless said otherwise. Or a file of JSON: a binding as in egress/credential_json.h beside
// "name" and "value_file" or "value_env".
Result<GateCredential> parse_credential_flag(const std::string& text);

void add_credential_flag(CLI::App& command, GateCredentials& into);

}  // namespace bj
