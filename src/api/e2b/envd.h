// What E2B's clients find on a sandbox's port 49983: processes and files, over Connect-RPC and plain HTTP. In E2B a
// program inside answers there; here the server does, with what the warden hands out. Whoever asks proves himself by
// the sandbox's token, or, for files, by a signed link.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "api/e2b/code_interpreter.h"
#include "api/e2b/services.h"
#include "api/e2b/signature.h"
#include "engine/file_details.h"
#include "server/connect_rpc.h"

namespace bj::e2b {

// One request to one sandbox. Lives as long as its answer is being sent.
struct EnvdCall {
  const Services& services;
  HttpRequest& request;
  std::shared_ptr<HeldSandbox> sandbox;
  std::string user;  // inside, as whom; empty: the sandbox's own
  boost::json::object message;

  SandboxFiles& files() const { return sandbox->live->files(); }
};

Task<HttpResponse> answer_envd(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox);

// Port 49999, whose guard has let the request through: the interpreters, on behalf of the sandbox's owner.
Task<HttpResponse> answer_code_port(const Services& services, CodeRunner& code, HttpRequest& request,
                                    std::shared_ptr<HeldSandbox> sandbox);

// /files of one sandbox, for a caller who may.
Task<HttpResponse> answer_files(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox);

// /files/compose, whose body was collected, for the same.
Task<HttpResponse> answer_compose(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox);

// By method name: "/process.Process/List". Null: there is no such call.
using UnaryCall = Task<RpcResult<boost::json::object>> (*)(const EnvdCall&);
using StreamCall = Task<std::optional<RpcError>> (*)(const EnvdCall&, RpcStream&);
UnaryCall process_call(std::string_view path);
StreamCall process_stream(std::string_view path);
UnaryCall filesystem_call(std::string_view path);
StreamCall filesystem_stream(std::string_view path);
// process.Process/StreamInput: messages of the request's body, in turn.
Task<RpcResult<boost::json::object>> stream_input(const EnvdCall& call);

// A path of a request as an absolute one: empty is where processes start, "~" and relative ones are of the user's home.
// kUnauthenticated: there is no such user.
RpcResult<std::string> path_in(const EnvdCall& call, const std::string& path);
// The user to whom what is made belongs.
std::string owner_in(const EnvdCall& call);
RpcError rpc_error_of(const Error& error);
HttpResponse plain_error(unsigned status, std::string_view message);  // {"code", "message"}

// A field of a message; proto3 leaves out what is empty.
std::string text_in(const boost::json::object& message, std::string_view name);
bool flag_in(const boost::json::object& message, std::string_view name, bool usual = false);
std::optional<int64_t> number_in(const boost::json::object& message, std::string_view name);
const boost::json::object* object_in(const boost::json::object& message, std::string_view name);

// EntryInfo.
boost::json::object entry_json(const FileDetails& details);
inline constexpr const char* kNotePrefix = "user.e2b.";

}  // namespace bj::e2b
