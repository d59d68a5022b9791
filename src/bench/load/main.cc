// The two ends of the gate's benchmark, as a program of its own: an HTTPS server outside, and clients that run inside a
// sandbox. A thread a connection, the same on both ways, so that only the way differs. Travels inside the binary.
//
//   load serve [CERTIFICATE]                          "port N"; answers GET /SIZE with as many bytes; until stdin ends
//   load run ADDRESS NAME PORT CONNECTIONS PACE_MS SECONDS SIZE     "P50_MS P99_MS REQUESTS BYTES_PER_SECOND"
//   load first ADDRESS NAME PORT                      "MS" from the question for the name to the answer of one request
//   load hold ADDRESS NAME PORT CONNECTIONS           "held"; keeps them open and idle until stdin ends
//
// ADDRESS is one, or "ask": then the name server of the sandbox is asked for NAME. A failure is a line on stderr, 1.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/load/tls.h"

namespace {

using namespace bj::load;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Place {
  std::string address, name;
  uint16_t port;
};

// An A record of the name, by UDP, from the gate. Libraries' caches and configuration stay out of it.
std::string ask(const std::string& name) {
  std::string question("\0\7\1\0\0\1\0\0\0\0\0\0", 12);
  question += static_cast<char>(name.size()) + name + std::string("\0\0\1\0\1", 5);
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in server = address_of("198.18.0.1", 53);
  char answer[512];
  ssize_t size = -1;
  if (::connect(s, reinterpret_cast<sockaddr*>(&server), sizeof server) == 0 &&
      ::send(s, question.data(), question.size(), 0) > 0) {
    size = ::recv(s, answer, sizeof answer, 0);
  }
  ::close(s);
  if (size < 16 || answer[7] == 0) throw std::runtime_error("no address for " + name);
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, answer + size - 4, text, sizeof text);
}

Connection connect_to(const Place& place) {
  return Connection::open(place.address == "ask" ? ask(place.name) : place.address, place.port, place.name);
}

std::string request_for(const Place& place, size_t size) {
  return "GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: " + place.name + "\r\n\r\n";
}

struct Tally {
  std::vector<float> times_ms;
  uint64_t bytes = 0;
};

// When requests are sent: from the moment that all connections stand.
struct Times {
  Clock::time_point start, end;
  Clock::duration pace;  // zero: as fast as they can
};

Tally load_one(Connection connection, const std::string& request, const Times& times, Clock::duration offset) {
  Tally tally;
  for (auto next = times.start + offset; Clock::now() < times.end; next = std::max(next + times.pace, Clock::now())) {
    std::this_thread::sleep_until(next);
    const auto sent = Clock::now();
    connection.write(request);
    tally.bytes += connection.read_answer();
    tally.times_ms.push_back(static_cast<float>(ms_since(sent)));
  }
  return tally;
}

std::vector<Tally> load_all(const Place& place, const std::string& request, Times& times, double seconds, int count) {
  const auto length = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::barrier connected(count, [&times, length]() noexcept {
    times.start = Clock::now();
    times.end = times.start + length;
  });
  std::vector<Tally> tallies(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  std::atomic<bool> failed = false;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      try {
        Connection connection = connect_to(place);
        connected.arrive_and_wait();
        // The first requests are spread over one pace.
        tallies[static_cast<size_t>(i)] = load_one(std::move(connection), request, times, i * times.pace / count);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        failed = true;
        connected.arrive_and_drop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed) throw std::runtime_error("a connection failed");
  return tallies;
}

void run(const Place& place, int connections, int pace_ms, double seconds, size_t size) {
  Times times{{}, {}, std::chrono::milliseconds(pace_ms)};
  std::vector<float> all;
  uint64_t bytes = 0;
  for (const Tally& tally : load_all(place, request_for(place, size), times, seconds, connections)) {
    all.insert(all.end(), tally.times_ms.begin(), tally.times_ms.end());
    bytes += tally.bytes;
  }
  const double took_ms = ms_since(times.start);
  std::sort(all.begin(), all.end());
  if (all.empty()) throw std::runtime_error("no request was answered in time");
  std::printf("%.4f %.4f %zu %.0f\n", all[all.size() / 2], all[all.size() * 99 / 100], all.size(),
              static_cast<double>(bytes) / (took_ms / 1000));
}

void first(const Place& place) {
  const auto start = Clock::now();
  Connection connection = connect_to(place);
  connection.write(request_for(place, 64));
  connection.read_answer();
  std::printf("%.4f\n", ms_since(start));
}

void wait_for_end_of_input() {
  char c;
  while (::read(STDIN_FILENO, &c, 1) > 0) {
  }
}

void hold(const Place& place, int connections) {
  std::vector<Connection> held;
  for (int i = 0; i < connections; ++i) {
    held.push_back(connect_to(place));
    held.back().write(request_for(place, 64));
    held.back().read_answer();
  }
  std::puts("held");
  std::fflush(stdout);
  wait_for_end_of_input();
}

void serve() {
  Listener listener;
  std::printf("port %u\n", listener.port());
  std::fflush(stdout);
  std::thread([&listener] {
    for (;;) {
      std::thread([accepted = listener.accept()]() mutable {
        try {
          answer_all(Connection::accepted(accepted));
        } catch (const std::exception&) {
          return;  // the client is gone
        }
      }).detach();
    }
  }).detach();
  wait_for_end_of_input();
  ::_exit(0);
}

int command(const std::vector<std::string>& words) {
  const auto place = [&words] {
    return Place{words.at(1), words.at(2), static_cast<uint16_t>(std::stoi(words.at(3)))};
  };
  if (words.at(0) == "serve") {
    if (words.size() > 1) write_certificate(words[1]);
    serve();
  } else if (words[0] == "run") {
    run(place(), std::stoi(words.at(4)), std::stoi(words.at(5)), std::stod(words.at(6)), std::stoul(words.at(7)));
  } else if (words[0] == "first") {
    first(place());
  } else if (words[0] == "hold") {
    hold(place(), std::stoi(words.at(4)));
  } else {
    throw std::runtime_error("unknown: " + words[0]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return command({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load: %s\n", error.what());
    return 1;
  }
}
