// One image's talk with its registry: the distribution protocol over HTTPS, with the two ways of logging in that there
// are (a token from a token server, or a password with each request).
//
// The registry is not trusted. What it sends is bounded and must be what its digest and size promised. Where it leads
// (redirects of blobs, its token server) is decided on the address that is then connected to: only public ones, unless
// an administrator listed that host and port; and never without TLS, except to listed hosts on loopback. A password
// goes to the registry and its token server only, a token to the registry only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "engine/import/oci_image.h"
#include "images/image_reference.h"
#include "providers/http_client.h"

namespace bj {

struct RegistryAccess {
  std::vector<std::string> listed;  // "127.0.0.1:5000", "registry.lan:443": may have an address that is not public
};

struct RegistryLogin {
  std::string user;  // empty: nobody
  Secret password;
};

// An image's manifest for linux/amd64, verified, and what it refers to.
struct FetchedManifest {
  std::string text;
  std::string media_type;
  std::string digest;                 // hex digits
  std::vector<BlobDescriptor> blobs;  // the config first
};

// Stays on its executor's thread; the client must outlive it.
class RegistrySession {
 public:
  RegistrySession(HttpClient& client, const RegistryAccess& access, ImageReference image, RegistryLogin login);

  // kNotFound: there is no such image, or it is not for us. kDenied: an address that may not be reached, or a login.
  Task<Result<FetchedManifest>> manifest();
  // Written to `into` as it comes, which the caller empties first; verified when it returns.
  Task<Result<void>> blob(BlobDescriptor blob, std::shared_ptr<Fd> into, std::function<void(uint64_t)> progress);

 private:
  Task<Result<ClientResponse>> get(std::string url, ClientRequest request);
  Task<Result<ClientResponse>> send(ClientRequest request);
  Task<Result<bool>> log_in(std::string challenge);
  Task<Result<FetchedManifest>> fetch(std::string wanted);
  bool plain_allowed(const std::string& url) const;
  std::string base() const;

  HttpClient& client_;
  RegistryAccess access_;
  ImageReference image_;
  RegistryLogin login_;
  std::string authorization_;  // for the registry's own origin
};

// The words of a challenge: `Bearer realm="https://…",service="…"`.
struct Challenge {
  std::string scheme;  // in lower case
  std::string realm, service, scope;
};
Challenge parse_challenge(std::string_view header);

}  // namespace bj
