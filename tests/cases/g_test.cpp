// Cases G of cases.json: empty shapes, the floating-point environment, errors, arrays of NumPy,
// optimizers. G01 is tests/headers/check.cmake, G02 tests/install/run.sh, G06
// tests/headers/macros.cmake.

#include <cfenv>

#include <microtape/core/io/npy.hpp>
#include <microtape/layers/optim/optimizer.hpp>
#include <microtape/tape/gradcheck.hpp>
#include <microtape/tape/ops.hpp>

#include "cases/case_list.hpp"

using namespace microtape;
using namespace microtape::testing;

namespace {

Gradients gradients_of(const Parameter& p, double g) {
  MicroTape tape(Keep::needed);
  return backward(sum(tape.watch(p) * g));
}

/// What numpy.save wrote of the arrays of G08: tests/reference/generate_npy.py.
Tensor from_numpy(const std::string& name) {
  return read_npy(tests_folder("reference") / "npy" / (name + ".npy"));
}

/// The parameter after each of the steps that the case names.
Tensor steps_of(const Case& c, const Parameter& w, Optimizer& optimizer) {
  std::vector<double> after;
  for (const Json& g : c.json().at("inputs").at("grads")) {
    optimizer.step(gradients_of(w, g));
    after.push_back(w.value().item());
  }
  return Tensor::of({static_cast<Index>(after.size())}, after, float64);
}

}  // namespace

TEST_CASE("G04: empty shapes are copied, joined, cut and swept") {
  for (const Json& extents : case_of("G04").at("inputs").at("shapes")) {
    const std::vector<Index> list = extents.get<std::vector<Index>>();
    const Shape shape{Indices(std::span<const Index>(list))};
    for (const DType dtype : {float32, float64}) {
      MicroTape tape;
      const Var x = tape.leaf(Tensor::zeros(shape, dtype));
      const Var joined = concat({x, x}, 0), cut = slice(joined, 0, 0, x.shape()[0]);
      CHECK(joined.shape() == shape.with(0, 2 * shape[0]));
      CHECK(cut.shape() == shape);
      CHECK(cut.value().contiguous().to(float64).data<double>().empty());
      const Gradients gradients = backward(sum(cut * stack({x, x}, 0)) + sum(softmax(exp(x))));
      CHECK(gradients[x].shape() == shape);
      if (shape.rank() == 2) CHECK(matmul_nt(x, x).shape() == Shape{shape[0], shape[0]});
    }
  }
}

TEST_CASE("G04: a matrix product over no numbers is 0") {
  const Var product = matmul(Tensor::zeros({3, 0}, float64), Tensor::zeros({0, 2}, float64));
  CHECK(is(product, {{0, 0}, {0, 0}, {0, 0}}));
}

TEST_CASE("G04: a softmax over nothing but -inf is refused") {
  CHECK_THROWS_AS(softmax(f64({{1, 2}, {-kInfinity, -kInfinity}})), ValueError);
}

TEST_CASE(
    "G08: strided, transposed and reversed arrays come from Python with the values they show") {
  // MicroTape has no Python binding: an array comes as an npy file.
  const Case c("G08");
  CHECK(identical(from_numpy("a_T"), c.expected("a.T")));
  CHECK(identical(from_numpy("a_columns"), c.expected("a[:,::2]")));
  CHECK(identical(from_numpy("a_reversed"), c.expected("a[::-1]")));
  CHECK(identical(from_numpy("a_one"), f64({7})));
}

TEST_CASE("G08: big-endian numbers, integers and scalars come from Python with their values") {
  const Tensor a = Case("G08").input("a");
  CHECK(identical(from_numpy("a_big_endian"), a));
  CHECK(identical(from_numpy("a_int"), a.to(int64)));
  CHECK(identical(from_numpy("scalar"), Tensor::full({}, 1.5, float32)));
}

TEST_CASE("G08: what is no array of numbers is refused by the name that Python has for it") {
  const auto text_of = [](const char* name) {
    try {
      from_numpy(name);
      return std::string();
    } catch (const FileError& error) {
      return std::string(error.what());
    }
  };
  CHECK(text_of("text").find("unknown dtype") != std::string::npos);
  CHECK(text_of("text").find("descr is \"<U1\"") != std::string::npos);
  CHECK(text_of("ragged").find("descr is \"|O\"") != std::string::npos);
  CHECK(text_of("complex").find("descr is \"<c8\"") != std::string::npos);
  CHECK(text_of("date").find("descr is \"<M8[D]\"") != std::string::npos);
  CHECK(text_of("u8").find("descr is \"<u8\"") != std::string::npos);
  CHECK(text_of("record").find("descr is no string") != std::string::npos);
}

TEST_CASE("G10: the library leaves the floating-point environment as it was") {
  const Case c("G10");
  std::feclearexcept(FE_ALL_EXCEPT);
  const int mode = std::fegetround();
  const Tensor x = f64({{1, -kInfinity, 2}, {-1e9, 0, -1e9}});
  MicroTape tape;
  const Var scores = tape.leaf(x);
  const Var y = softmax(scores, {.mask = f64({{0, 0, -kInfinity}, {0, 0, -1e9}})});
  backward(y, ramp({2, 3}));
  CHECK_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO));
  matmul(f64({{1, 2}, {3, 4}}), f64({{1, 2}, {3, 4}}));
  CHECK(std::fegetround() == mode);
  CHECK(c.holds("d", Var(c.input("d")) * 1.0));
  const Tensor f = Case("G10", float32).input("f");
  CHECK((Var(f) * 1.0).item() == c.expected("f").item());
  CHECK((Var(f) * Tensor::full({}, 1, float32)).item() == c.expected("f").item());
}

TEST_CASE("G11: each mistake of a student is an error with a sentence, and all goes on after it") {
  MicroTape tape;
  const Var a = tape.leaf(ramp({2, 3}), "a"), constant = tape.constant(f64(1));
  const Var y = sum(square(a));
  const Tensor before = backward(y)[a].value();
  const NodeId size = tape.size();
  CHECK_THROWS_AS(matmul(a, a), ShapeError);
  CHECK_THROWS_AS(a.value().at({2, 0}), IndexError);
  CHECK_THROWS_AS(slice(a, 2, 0, 1), IndexError);
  CHECK_THROWS_AS(read_safetensors("no such file"), FileError);
  CHECK_THROWS_AS(backward(constant), TapeError);
  CHECK_THROWS_AS(backward(f64(1)), TapeError);
  CHECK_THROWS_AS(backward(a), ShapeError);
  CHECK_THROWS_AS(Sgd(std::vector<Parameter>{}), ValueError);
  CHECK(tape.size() == size);
  CHECK(identical(backward(y)[a], before));
  const GradcheckReport wrong = gradcheck(
      [](std::span<const Var> x) { return detach(x[0]) * x[0]; }, {f64({1, 2})}, {.order = 1});
  CHECK(wrong.wrong == 2);
  CHECK(wrong.str().rfind("gradcheck: 2 of 2 derivatives are wrong", 0) == 0);
}

TEST_CASE("G12: the first steps of Sgd and Adam") {
  const Case c("G12");
  const double rate = c.input("lr").item();
  const auto start = [&] { return Parameter("w", c.input("w")); };
  const Parameter a = start(), b = start(), d = start();
  Adam adam({a}, {.learning_rate = rate});
  Sgd momentum({b}, {.learning_rate = rate, .momentum = 0.9}), plain({d}, {.learning_rate = rate});
  CHECK(c.holds("adam", steps_of(c, a, adam)));
  CHECK(c.holds("sgd_momentum", steps_of(c, b, momentum)));
  CHECK(c.holds("sgd", steps_of(c, d, plain)));
}

TEST_CASE("G: every case about platforms is tested") {
  CHECK(missing_cases("g", {"G01", "G02", "G04", "G06", "G08", "G10", "G11", "G12"}).empty());
}
