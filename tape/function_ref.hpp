#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace microtape {

/// FunctionRef<R(Args...)>, below.
template <class Signature>
class FunctionRef;

/// A function given for the length of a call: it refers to a lambda or function and copies nothing.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  /// Refers to f, which must live as long.
  template <class F>
    requires(std::is_invocable_r_v<R, F&, Args...> &&
                !std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f) : object_(address_of(f)), call_(&call<std::remove_reference_t<F>>) {}

  /// Calls it.
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  template <class F>
  static void* address_of(F& f) {
    if constexpr (std::is_function_v<F>)
      return reinterpret_cast<void*>(&f);
    else
      return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  }
  template <class F>
  static R call(void* object, Args... args) {
    if constexpr (std::is_function_v<F>)
      return reinterpret_cast<F*>(object)(std::forward<Args>(args)...);
    else
      return (*static_cast<F*>(object))(std::forward<Args>(args)...);
  }

  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace microtape
