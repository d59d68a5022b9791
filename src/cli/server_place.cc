#include "cli/server_place.h"

#include <unistd.h>

#include <boost/asio/ip/address.hpp>

#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestUrl = 4096;

std::string file_in(const std::string& data_directory) { return data_directory + "/server.url"; }

}  // namespace

std::string server_url(std::string_view scheme, const ServerAddress& address, const std::string& name) {
  ServerAddress reached = address;
  boost::system::error_code bad;
  const auto ip = boost::asio::ip::make_address(address.host, bad);
  if (!bad && ip.is_unspecified()) reached.host = ip.is_v6() ? "::1" : "127.0.0.1";
  const std::string place = name.empty() ? reached.text() : name + ":" + std::to_string(address.port);
  return std::string(scheme) + "://" + place;
}

Result<ServerPlace> ServerPlace::tell(const std::string& data_directory, const std::string& url) {
  BJ_CHECK(write_file_atomically(file_in(data_directory), url + "\n", 0600));
  return ServerPlace(file_in(data_directory));
}

std::optional<std::string> ServerPlace::find(const std::string& data_directory) {
  const Result<std::string> text = read_file(file_in(data_directory), kLongestUrl);
  if (!text || text->empty()) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

ServerPlace::~ServerPlace() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace bj
