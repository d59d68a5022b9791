// The network namespaces of a zygote's children: made ahead, one for each, and used again where nothing tells that they
// were. Making one and taking it down is a quarter of a call's processor time, and most calls open no socket.
//
// A namespace serves another child only if no process is in it any more (whoever calls says so), no socket is, and what
// the files listed in the source tell of it is what they tell of a fresh one: no packet was sent, no IPv6 address
// looked up, nothing refused. Whatever touched the network, or looks as if, goes.
//
// Moves the calling process between namespaces. One thread; no C library, no heap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bj {

class CallNetworks {
 public:
  // 0: the process is in a namespace for the next child. Otherwise a negative errno, and it is where no child may be
  // born.
  long prepare();
  // That child was cloned.
  void lend(uint32_t child);
  // All processes of the child are dead.
  void give_back(uint32_t child);

 private:
  static constexpr size_t kMostLent = 512;    // beyond, they end with their child
  static constexpr size_t kMostReturned = 8;  // that wait to be looked at
  static constexpr size_t kRoom = 16 * 1024;

  struct Lent {
    uint32_t child;
    int network;
  };

  long make();
  bool enter_returned();

  bool ready_ = false;
  int current_ = -1;  // the one the process is in, if it may be lent
  Lent lent_[kMostLent] = {};
  size_t lent_count_ = 0;
  int returned_[kMostReturned] = {};
  size_t returned_count_ = 0;
  char fresh_[kRoom] = {};  // what is told of a fresh one
  size_t fresh_size_ = 0;   // 0: not known, so none can be used again
  char now_[kRoom] = {};
};

}  // namespace bj
