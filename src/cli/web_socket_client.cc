#include "cli/web_socket_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "sys/bytes.h"
#include "sys/files.h"
#include "tools/base64.h"

namespace bj {
namespace {

constexpr uint64_t kLongestFrame = 16 << 20;
constexpr size_t kLongestHeader = 64 << 10;

uint32_t random_word() {
  uint32_t word = 0;
  (void)::getrandom(&word, sizeof word, 0);
  return word;
}

struct HostPort {
  std::string host, port, text;
};

Result<HostPort> place_of(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme))
    return fail(Code::kUnavailable, "a terminal needs a server at http://...; through TLS, use `belljar sandbox exec`");
  HostPort place;
  place.text = url.substr(kScheme.size());
  place.text = place.text.substr(0, place.text.find('/'));
  const size_t colon = place.text.rfind(':');
  const bool has_port = colon != std::string::npos && place.text.find(']', colon) == std::string::npos;
  place.host = has_port ? place.text.substr(0, colon) : place.text;
  place.port = has_port ? place.text.substr(colon + 1) : "80";
  if (place.host.starts_with('[') && place.host.ends_with(']'))
    place.host = place.host.substr(1, place.host.size() - 2);
  return place;
}

Result<Fd> connect_to(const HostPort& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int bad = ::getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found); bad != 0)
    return fail(Code::kUnavailable, "the server " + place.text + ": " + ::gai_strerror(bad));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Fd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.ok() || ::connect(socket.get(), one->ai_addr, one->ai_addrlen) != 0) continue;
    const int on = 1;
    (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
  }
  return fail(Code::kUnavailable, "no server answers at " + place.text + ": start one with `belljar serve`");
}

}  // namespace

std::string frame_text(FrameKind kind, std::string_view data, uint32_t mask) {
  std::string text;
  text += static_cast<char>(0x80 | static_cast<uint8_t>(kind));
  constexpr uint8_t kMasked = 0x80;
  const uint64_t size = data.size();
  const int wide = size < 126 ? 0 : size < 65536 ? 2 : 8;
  text += static_cast<char>(kMasked | (wide == 0 ? size : wide == 2 ? 126 : 127));
  for (int i = wide - 1; i >= 0; --i) text += static_cast<char>(size >> (8 * i));
  char key[4];
  std::memcpy(key, &mask, sizeof key);
  text.append(key, sizeof key);
  for (size_t i = 0; i < data.size(); ++i) text += static_cast<char>(data[i] ^ key[i % 4]);
  return text;
}

Result<std::optional<SocketFrame>> take_frame(std::string& bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const auto at = [&bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if ((at(0) & 0x70) != 0 || (at(1) & 0x80) != 0)
    return fail(Code::kInvalid, "the server sends frames that were not agreed on");
  uint64_t size = at(1) & 0x7f;
  size_t head = 2;
  const size_t wide = size == 126 ? 2 : size == 127 ? 8 : 0;
  if (bytes.size() < head + wide) return std::nullopt;
  if (wide != 0) size = 0;
  for (size_t i = 0; i < wide; ++i) size = size << 8 | at(head + i);
  head += wide;
  if (size > kLongestFrame) return fail(Code::kInvalid, "the server sends a frame that is too long");
  if (bytes.size() < head + size) return std::nullopt;
  SocketFrame frame{static_cast<FrameKind>(at(0) & 0x0f), (at(0) & 0x80) != 0, bytes.substr(head, size)};
  bytes.erase(0, head + size);
  return frame;
}

Result<WebSocketClient> WebSocketClient::connect(const std::string& url, const std::string& path,
                                                 std::string_view key) {
  BJ_TRY(const HostPort place, place_of(url));
  BJ_TRY(Fd socket, connect_to(place));
  WebSocketClient client(std::move(socket));
  BJ_CHECK(client.shake_hands(place.text, path, key));
  return client;
}

Result<void> WebSocketClient::shake_hands(const std::string& host, const std::string& path, std::string_view key) {
  char nonce[16];
  (void)::getrandom(nonce, sizeof nonce, 0);
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: " + host +
                              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: " +
                              base64_encode({nonce, sizeof nonce}) + "\r\nAuthorization: Bearer " + std::string(key) +
                              "\r\n\r\n";
  BJ_CHECK(write_all(socket_.get(), request, "the server"));
  size_t end = std::string::npos;
  while ((end = arrived_.find("\r\n\r\n")) == std::string::npos) {
    if (arrived_.size() > kLongestHeader) return fail(Code::kInvalid, "the server's answer is too long");
    BJ_CHECK(fill());
  }
  if (!arrived_.starts_with("HTTP/1.1 101")) {
    (void)fill();  // the sentence that tells why may come behind the header
    const std::string body = arrived_.substr(std::min(end + 4, arrived_.size()));
    return fail(Code::kInvalid, arrived_.substr(9, arrived_.find('\r') - 9) + (body.empty() ? "" : ": " + body));
  }
  arrived_.erase(0, end + 4);
  return {};
}

Result<void> WebSocketClient::send(FrameKind kind, std::string_view data) {
  return write_all(socket_.get(), frame_text(kind, data, random_word()), "the server");
}

Result<void> WebSocketClient::fill() {
  char bytes[65536];
  const Moved read = read_some(socket_.get(), bytes, sizeof bytes);
  if (read.size == 0) return fail(Code::kUnavailable, "the server closed the connection");
  arrived_.append(bytes, read.size);
  return {};
}

Result<std::optional<SocketFrame>> WebSocketClient::next() {
  for (;;) {
    BJ_TRY(std::optional<SocketFrame> frame, take_frame(arrived_));
    if (!frame || frame->kind != FrameKind::kPing) return frame;
    BJ_CHECK(send(FrameKind::kPong, frame->data));
  }
}

}  // namespace bj
