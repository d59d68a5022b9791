// Failures are values. A function that can fail in an expected way returns Result<T>; the message names the call
// and the object, so that one line is enough to act on.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace bj {

enum class Code {
  kInvalid,
  kNotFound,
  kDenied,
  kExhausted,
  kUnavailable,
  kInternal,
  kConflict,       // there is one already: a unique name is taken
  kDangling,       // it refers to something that does not exist
  kBusy,           // locked by somebody else; nothing has happened, trying again makes sense
  kUnprocessable,  // a request's fields are wrong, all of them told at once
};

struct Error {
  Code code = Code::kInternal;
  std::string what;
  int sys = 0;  // errno, 0 if none
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string what, int sys = 0) {
  return tl::unexpected(Error{code, std::move(what), sys});
}

inline Code code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH: return Code::kNotFound;
    case EPERM:
    case EACCES: return Code::kDenied;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN: return Code::kExhausted;
    case ENOSYS:
    case EOPNOTSUPP: return Code::kUnavailable;
    default: return Code::kInternal;
  }
}

inline tl::unexpected<Error> fail_with(int error, const std::string& call) {
  return fail(code_of_errno(error), call + ": " + std::strerror(error), error);
}

// `call` names the call and its object: "openat(/x)".
inline tl::unexpected<Error> fail_errno(const std::string& call) { return fail_with(errno, call); }

#define BJ_CAT_(a, b) a##b
#define BJ_CAT(a, b) BJ_CAT_(a, b)
#define BJ_TRY_(tmp, decl, ret, ...)                      \
  auto tmp = (__VA_ARGS__);                               \
  if (!tmp) ret ::tl::unexpected(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define BJ_CHECK_(tmp, ret, ...) \
  if (auto tmp = (__VA_ARGS__); !tmp) ret ::tl::unexpected(std::move(tmp).error())

// BJ_TRY binds the value or returns the error; BJ_CHECK is the same for a Result<void>. Statements, not expressions.
#define BJ_TRY(decl, ...) BJ_TRY_(BJ_CAT(bj_try_, __COUNTER__), decl, return, __VA_ARGS__)
#define BJ_CO_TRY(decl, ...) BJ_TRY_(BJ_CAT(bj_try_, __COUNTER__), decl, co_return, __VA_ARGS__)
#define BJ_CHECK(...) BJ_CHECK_(BJ_CAT(bj_try_, __COUNTER__), return, __VA_ARGS__)
#define BJ_CO_CHECK(...) BJ_CHECK_(BJ_CAT(bj_try_, __COUNTER__), co_return, __VA_ARGS__)

}  // namespace bj
