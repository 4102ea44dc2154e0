// What attention says of wrong operands: the same as one op, on Keep::needed tapes, and as three.

#include <microtape/tape/ops.hpp>

#include "testing.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

Tensor number(const Shape& shape, std::uint64_t seed) {
  return Tensor::uniform(shape, -2, 2, seed, float64);
}

/// The error that f(tape) throws, inside of a scope.
template <class F>
std::string message(Keep keep, F f) {
  MicroTape tape(keep);
  const auto scope = tape.scope("here");
  try {
    f(tape);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The same with and without Keep::needed.
template <class F>
std::string check_same_message(F f) {
  const std::string fused = message(Keep::needed, f);
  CHECK(fused != "no error");
  CHECK(fused == message(Keep::everything, f));
  return fused;
}

}  // namespace

TEST_CASE("fused attention fails in the words of the ops") {
  const auto check_fails = [](const Tensor& q, const Tensor& k, const Tensor& v,
                               const Tensor& mask = {}) {
    return check_same_message([&](MicroTape& tape) {
      scaled_dot_product_attention(tape.leaf(q), tape.leaf(k), tape.leaf(v), {.mask = mask});
    });
  };
  const Tensor x = number({2, 3, 4}, 1), single = x.to(float32);
  CHECK(check_fails(x, x, x, f64({{0, 0, 0}, {-kInfinity, -kInfinity, -kInfinity}, {0, 0, 0}})) ==
        "in here: softmax: row [0, 1] has only -inf: x [2, 3, 3], mask [3, 3]; each row needs a "
        "larger number");
  check_fails(x, x, x, f64({0, kInfinity, 0}));
  check_fails(x, x, x, f64({0, 0}));
  check_fails(x, x, x, Tensor::zeros({3}, float32));
  for (const Tensor& other : {single, number({2, 3}, 2), number({3, 3, 4}, 2), number({4}, 2),
           f64(1), number({2, 7, 5}, 2)}) {
    check_fails(other, x, x);
    check_fails(x, other, x);
    check_fails(x, x, other);
    check_fails(x, other, other);
  }
  // An extent that is too large for BLAS.
  const Tensor many = f64(1).broadcast_to({Index{1} << 31, 1});
  check_fails(f64({{1}}), many, many);
}

TEST_CASE("fused attention names the row of a panel that fails") {
  const Tensor x = number({1, 600, 2}, 1);
  Tensor mask = Tensor::zeros({600, 1}, float64);
  mask.mutable_data<double>()[555] = kInfinity;
  CHECK(check_same_message([&](MicroTape& tape) {
    scaled_dot_product_attention(tape.leaf(x), tape.leaf(x), tape.leaf(x), {.mask = mask});
  }) == "in here: softmax: row [0, 555] holds +inf: x [1, 600, 600], mask [600, 1]; inf - inf has "
        "no value");
}

TEST_CASE("fused attention tells the scope, whichever operand stands on the tape") {
  // Bug: only that of q was asked.
  const Tensor x = Tensor::full({3, 4}, 1e200, float64), one = Tensor::full({3, 4}, 1, float64);
  const auto text = check_same_message(
      [&](MicroTape& tape) { scaled_dot_product_attention(x, tape.leaf(x), one); });
  CHECK(text == "in here: softmax: row [0] holds +inf: x [3, 3]; inf - inf has no value");
}

TEST_CASE("fused attention refuses operands of two tapes, or of one that was cleared") {
  // Bug: nobody looked at the tape of the mask, and the others were refused in other words.
  const Tensor x = number({3, 4}, 1), zeros = Tensor::zeros({3, 3}, float64);
  for (const Keep keep : {Keep::needed, Keep::everything}) {
    MicroTape other(keep);
    const Var stale = other.leaf(x), stale_mask = other.constant(zeros);
    other.clear();
    const Var foreign = other.leaf(x), foreign_mask = other.constant(zeros);
    for (const bool is_stale : {true, false}) {
      const Var wrong = is_stale ? stale : foreign, mask = is_stale ? stale_mask : foreign_mask;
      const auto check_fails = [&](const std::string& operand, auto attend) {
        const std::string text = check_same_message([&](MicroTape& tape) {
          const Var leaf = tape.leaf(x);
          CHECK_THROWS_AS(attend(leaf), TapeError);
          CHECK(tape.size() == 1);  // nor does a causal mask stay behind
          attend(leaf);
        });
        CHECK(text == "scaled_dot_product_attention: " +
                          (is_stale ? operand + " is from a tape that was cleared or destroyed "
                                                "since; compute it again"
                                    : "the inputs stand on two tapes; put all of them on one"));
      };
      const AttentionOptions causal{.causal = true};
      check_fails("q", [&](const Var& q) { scaled_dot_product_attention(wrong, q, q, causal); });
      check_fails("k", [&](const Var& q) { scaled_dot_product_attention(q, wrong, q, causal); });
      check_fails("v", [&](const Var& q) { scaled_dot_product_attention(q, q, wrong, causal); });
      check_fails("mask", [&](const Var& q) {
        scaled_dot_product_attention(q, q, q, {.mask = mask, .causal = true});
      });
    }
  }
}
