// Commands that ask the running server: found, asked, and its refusal told as an exit status.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>

#include "cli/server_client.h"
#include "cli/settings.h"

namespace bj {

// Says what went wrong; the exit status.
int report_failure(const Error& error);

// Finds the server and does the work; the exit status.
int with_server(const std::string& url, const Settings& settings,
                const std::function<Result<int>(ServerClient&)>& work);

// A text of an answer's object; empty: there is none.
std::string text_at(const boost::json::value& object, std::string_view key);

}  // namespace bj
