// How many blank sandboxes of a kind are worth keeping ahead: a few for somebody who asks now and then, as many as a
// burst found missing for somebody who comes in bursts, none for nobody. Pure; whoever keeps the blanks tells it what
// happens.
#pragma once

#include <algorithm>
#include <cstddef>

namespace bj {

class BlankDemand {
 public:
  BlankDemand(size_t least, size_t most) : least_(least), most_(std::max(least, most)) {}

  // One was taken and so many are left.
  void taken(size_t left) {
    asked_ = true;
    unused_ = std::min(unused_, left);
  }

  // One was asked for and there was none: one more would have been of use.
  void missed() {
    asked_ = true;
    unused_ = 0;
    wanted_ = std::clamp(wanted_ + 1, least_, most_);
  }

  // Whether another one has time while so many are left: more than the last few of them.
  bool can_wait(size_t left) const { return left * 8 >= wanted_; }

  // A while is over. What nobody needed in it is not wanted any more; of what nobody asked for, nothing is.
  void look_back(size_t there) {
    wanted_ = asked_ ? std::max(least_, wanted_ - std::min(unused_, wanted_)) : 0;
    asked_ = false;
    unused_ = std::min(there, wanted_);
  }

  size_t wanted() const { return wanted_; }

 private:
  size_t least_;
  size_t most_;
  size_t wanted_ = 0;
  size_t unused_ = 0;  // the fewest that were left at any time of this while
  bool asked_ = false;
};

}  // namespace bj
