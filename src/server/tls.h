// The server's side of TLS 1.2 and 1.3, from files. Internal to the server.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "server/http_server.h"

namespace bj {

// A failure names the file.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls_context(const TlsFiles& files);

}  // namespace bj
