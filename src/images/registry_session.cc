#include "images/registry_session.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/evp.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "egress/destination.h"
#include "egress/ip_address.h"
#include "egress/value_forms.h"
#include "engine/import/import_digest.h"
#include "providers/http_transfer.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr int kMostRedirects = 5;
constexpr size_t kMostTokenBytes = 256 * 1024;
constexpr uint64_t kMostBlobBytes = 8ull << 30;
constexpr auto kForManifests = std::chrono::seconds(30);
constexpr auto kForBlobs = std::chrono::minutes(30);
constexpr auto kSilence = std::chrono::seconds(30);
constexpr const char* kAccept =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

std::string basic_login(const RegistryLogin& login) {
  const std::string plain = login.user + ":" + std::string(login.password.reveal());
  std::string text((plain.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
  text.resize(static_cast<size_t>(length));
  return "Basic " + text;
}

// "host:port" of a URL; empty: it is none.
std::string place_of(const std::string& url) {
  const std::string origin = origin_of(url);
  const size_t slashes = origin.find("://");
  return slashes == std::string::npos ? std::string() : origin.substr(slashes + 3);
}

bool on_loopback(const std::string& place) { return place.starts_with("127.") || place.starts_with("localhost:"); }

std::optional<IpAddress> address_in(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return IpAddress::v4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  if (address.sa_family != AF_INET6) return std::nullopt;
  std::array<uint8_t, 16> bytes{};
  std::copy_n(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr, bytes.size(), bytes.begin());
  return IpAddress::v6(bytes);
}

// Decided on the address that will be connected to, not on the name.
std::function<bool(const sockaddr&)> address_rule(bool listed) {
  if (listed) return [](const sockaddr&) { return true; };
  return [own = own_addresses()](const sockaddr& given) {
    const std::optional<IpAddress> address = address_in(given);
    return address && kind_of(*address) == AddressKind::kPublic && own &&
           std::ranges::find(*own, *address) == own->end();
  };
}

std::string media_type_of(const ClientResponse& response) {
  const std::string_view given = response.header("content-type");
  return std::string(given.substr(0, given.find(';')));
}

}  // namespace

Challenge parse_challenge(std::string_view header) {
  Challenge challenge;
  const size_t space = std::min(header.find(' '), header.size());
  challenge.scheme = lower(header.substr(0, space));
  std::string_view rest = header.substr(space);
  while (!rest.empty()) {
    const size_t begin = std::min(rest.find_first_not_of(" ,\t"), rest.size());
    rest.remove_prefix(begin);
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    const std::string name = lower(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    std::string value;
    if (rest.starts_with('"')) {
      const size_t close = rest.find('"', 1);
      if (close == std::string_view::npos) break;
      value = rest.substr(1, close - 1);
      rest.remove_prefix(close + 1);
    } else {
      const size_t end = std::min(rest.find(','), rest.size());
      value = rest.substr(0, end);
      rest.remove_prefix(end);
    }
    if (name == "realm") challenge.realm = value;
    if (name == "service") challenge.service = value;
    if (name == "scope") challenge.scope = value;
  }
  return challenge;
}

RegistrySession::RegistrySession(HttpClient& client, const RegistryAccess& access, ImageReference image,
                                 RegistryLogin login)
    : client_(client), access_(access), image_(std::move(image)), login_(std::move(login)) {}

std::string RegistrySession::base() const {
  const std::string https = "https://" + image_.registry;
  return plain_allowed("http://" + image_.registry) ? "http://" + image_.registry : https;
}

bool RegistrySession::plain_allowed(const std::string& url) const {
  const std::string place = place_of(url);
  return on_loopback(place) && std::find(access_.listed.begin(), access_.listed.end(), place) != access_.listed.end();
}

// One request to wherever it leads, by the rules.
Task<Result<ClientResponse>> RegistrySession::send(ClientRequest request) {
  const std::string place = place_of(request.url);
  if (place.empty()) co_return fail(Code::kInvalid, "the registry leads to what is no URL");
  if (!request.url.starts_with("https://") && !plain_allowed(request.url))
    co_return fail(Code::kDenied,
                   place + ": without TLS nothing is fetched, except from listed registries on loopback");
  const bool listed = std::find(access_.listed.begin(), access_.listed.end(), place) != access_.listed.end();
  request.may_connect = address_rule(listed);
  request.redirects = Redirects::kReturned;
  Result<ClientResponse> response = co_await client_.send(std::move(request));
  if (!response && response.error().code == Code::kDenied) {
    co_return fail(Code::kDenied, place +
                                      ": its address is not public, and it is not among the registries that an "
                                      "administrator listed ([templates] registries)");
  }
  co_return response;
}

Task<Result<bool>> RegistrySession::log_in(std::string header) {
  const Challenge challenge = parse_challenge(header);
  const std::string basic = basic_login(login_);
  if (challenge.scheme == "basic") {
    if (login_.user.empty() || authorization_ == basic) co_return false;
    authorization_ = basic;
    co_return true;
  }
  if (challenge.scheme != "bearer" || challenge.realm.empty() || !authorization_.empty()) co_return false;
  ClientRequest request;
  request.url = challenge.realm + (challenge.realm.find('?') == std::string::npos ? "?" : "&") +
                "service=" + percent_encoded(challenge.service) +
                "&scope=" + percent_encoded("repository:" + image_.path + ":pull");
  if (!login_.user.empty()) request.headers.emplace_back("Authorization", basic);
  request.timeout = kForManifests;
  request.max_response_bytes = kMostTokenBytes;
  BJ_CO_TRY(const ClientResponse response, co_await send(std::move(request)));
  if (response.status != 200) co_return fail(Code::kDenied, image_.registry + ": its token server refused the login");
  boost::json::error_code bad;
  const boost::json::value answer = boost::json::parse(response.body, bad);
  const boost::json::object* const object = bad ? nullptr : answer.if_object();
  for (const char* key : {"token", "access_token"}) {
    const boost::json::value* const token = object == nullptr ? nullptr : object->if_contains(key);
    if (token == nullptr || !token->is_string()) continue;
    authorization_ = "Bearer " + std::string(token->get_string());
    co_return true;
  }
  co_return fail(Code::kUnavailable, image_.registry + ": its token server gave no token");
}

// Follows redirects; what leaves the registry's origin goes without its authorization.
Task<Result<ClientResponse>> RegistrySession::get(std::string url, ClientRequest request) {
  const HttpHeaders headers = request.headers;
  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    const bool at_home = origin_of(url) == origin_of(base());
    ClientRequest next = request;
    next.url = url;
    next.headers = headers;
    if (at_home && !authorization_.empty()) next.headers.emplace_back("Authorization", authorization_);
    BJ_CO_TRY(ClientResponse response, co_await send(std::move(next)));
    if (response.status == 401 && at_home) {
      BJ_CO_TRY(const bool again, co_await log_in(std::string(response.header("www-authenticate"))));
      if (again) continue;
    }
    const std::string_view location = response.header("location");
    if (response.status / 100 != 3 || location.empty()) co_return response;
    url = location.starts_with("/") ? origin_of(url) + std::string(location) : std::string(location);
  }
  co_return fail(Code::kUnavailable, image_.registry + ": it leads on and on");
}

Task<Result<FetchedManifest>> RegistrySession::fetch(std::string wanted) {
  ClientRequest request;
  request.headers = {{"Accept", kAccept}};
  request.timeout = kForManifests;
  request.max_response_bytes = ImportLimits().max_json_bytes;
  BJ_CO_TRY(const ClientResponse response,
            co_await get(base() + "/v2/" + image_.path + "/manifests/" + wanted, std::move(request)));
  if (response.status == 401 || response.status == 403)
    co_return fail(Code::kDenied, image_.text() + ": the registry wants a login for it");
  if (response.status == 404) co_return fail(Code::kNotFound, image_.text() + ": the registry has no such image");
  if (response.status != 200)
    co_return fail(Code::kUnavailable, fmt::format("{}: the registry answered {}", image_.text(), response.status));
  FetchedManifest manifest;
  manifest.text = response.body;
  manifest.media_type = media_type_of(response);
  manifest.digest = sha256_hex(manifest.text);
  if (wanted.starts_with("sha256:") && wanted != "sha256:" + manifest.digest)
    co_return fail(Code::kInvalid, image_.text() + ": what the registry sent is not what its digest promises");
  co_return manifest;
}

Task<Result<FetchedManifest>> RegistrySession::manifest() {
  const ImportLimits limits;
  BJ_CO_TRY(FetchedManifest found, co_await fetch(image_.wanted()));
  if (is_image_index(found.media_type)) {
    BJ_CO_TRY(const BlobDescriptor chosen, chosen_manifest(found.text, limits));
    BJ_CO_TRY(found, co_await fetch("sha256:" + chosen.digest));
  }
  if (!is_image_manifest(found.media_type))
    co_return fail(Code::kInvalid, image_.text() + ": its manifest is of a kind that Belljar does not know (" +
                                       printable(found.media_type, 100) + ")");
  BJ_CO_TRY(found.blobs, blobs_of_manifest(found.text, limits));
  co_return found;
}

Task<Result<void>> RegistrySession::blob(BlobDescriptor blob, std::shared_ptr<Fd> into,
                                         std::function<void(uint64_t)> progress) {
  if (blob.size > kMostBlobBytes)
    co_return fail(Code::kExhausted, image_.text() + ": a layer of it is larger than 8 GiB");
  struct Received {
    Sha256 hash;
    uint64_t bytes = 0;
    std::optional<Error> failure;
  };
  const auto received = std::make_shared<Received>();
  ClientRequest request;
  request.timeout = kForBlobs;
  request.idle = kSilence;
  request.max_response_bytes = blob.size + 1;  // one too many is told apart from too few
  request.on_body = [received, into, progress](std::string_view piece) {
    received->hash.update(piece);
    received->bytes += piece.size();
    const Result<void> written = write_all(into->get(), piece, "a layer");
    if (!written) received->failure = written.error();
    if (progress) progress(received->bytes);
    return written.has_value();
  };
  const std::string url = base() + "/v2/" + image_.path + "/blobs/sha256:" + blob.digest;
  Result<ClientResponse> response = co_await get(url, std::move(request));
  if (received->failure) co_return tl::unexpected(*received->failure);
  if (!response) co_return tl::unexpected(response.error());
  if (response->status != 200)
    co_return fail(Code::kUnavailable,
                   fmt::format("{}: the registry answered {} for a layer", image_.text(), response->status));
  if (received->bytes != blob.size || received->hash.hex() != blob.digest)
    co_return fail(Code::kInvalid, image_.text() + ": a layer is not what its digest and size promise");
  co_return Result<void>();
}

}  // namespace bj
