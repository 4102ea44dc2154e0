#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <microtape/core/io/safetensors.hpp>
#include <microtape/tape/backward.hpp>
#include <microtape/tape/function_ref.hpp>
#include <microtape/tape/ops.hpp>

namespace microtape {

class Layer;

/// What every layer may be given.
struct LayerOptions {
  std::string name = {};   ///< of its scope on a tape and in a state_dict; empty: the kind of layer
  DType dtype = float32;   ///< of its parameters
  std::uint64_t seed = 0;  ///< of their first values, and of dropout
  std::string symbol = {};  ///< subscript of the parameters on a tape: "Q" makes W_Q and b_Q
};

/// The options of part number `n` of a layer: the same dtype, a seed of its own.
LayerOptions part_options(
    const LayerOptions& whole, std::string name, std::uint64_t n, std::string symbol = "");

/// One parameter or one child of a layer, under its own name or another.
struct Member {
  /// A parameter under its own name.
  Member(const Parameter& p) : name(p.name()), parameter(p) {}
  /// A child under its own name.
  Member(Layer& child);
  /// A child under another name.
  Member(std::string name, Layer& child);

  std::string name;                    ///< in a state_dict
  std::optional<Parameter> parameter;  ///< if it is one
  Layer* layer = nullptr;              ///< if it is a child
};

/// A function with parameters: `Var operator()(const Var&)` composes ops on the tape of its input.
/// For use without a tape, forward() and backward() keep one inside.
class Layer {
 public:
  virtual ~Layer() = default;
  /// A layer moves, with its parameters; it is not copied.
  Layer(Layer&&) = default;
  /// As above.
  Layer& operator=(Layer&&) = default;

  /// y = f(x), composed from ops in a scope of its own, on the tape of x (or plain, without one).
  /// A layer says which shapes it takes.
  virtual Var operator()(const Var& x) = 0;

  /// y = f(x), remembered for backward().
  Tensor forward(const Tensor& x);
  /// The adjoint of x of the last forward(), given that of its result; fills gradients().
  /// @param dy  of the result's shape and dtype
  /// @return    of x's shape
  /// @throws TapeError before a forward(); ShapeError, DTypeError if dy does not fit
  Tensor backward(const Tensor& dy);
  /// Each parameter's gradient of the last backward(): `layer.gradients()[parameter]`.
  /// @throws TapeError before a backward()
  const Gradients& gradients() const;

  /// It and its children train: dropout drops. So does a new layer.
  void train() { set_mode(Mode::train); }
  /// Neither it nor its children drop anything, from now on.
  void eval() { set_mode(Mode::eval); }
  /// Whether dropout drops.
  bool is_training() const { return mode_ == Mode::train; }

  /// Of its scope on a tape.
  const std::string& name() const { return name_; }
  /// Its own parameters and its children, in order.
  virtual std::vector<Member> members() = 0;
  /// Parameters with their names, in order.
  using NamedParameters = std::vector<std::pair<std::string, Parameter>>;
  /// All parameters by name, those of children included: "weight", "q_proj.weight".
  /// @throws ValueError if two have one name
  NamedParameters named_parameters();
  /// All parameters, those of children included, in order; a shared (tied) one once.
  std::vector<Parameter> parameters();

  /// All values by name: "weight", and "q_proj.weight" for that of a child.
  /// @throws ValueError if two parameters have one name
  TensorMap state_dict();
  /// Sets all values, or none if anything is wrong.
  /// @throws ValueError if a name is missing or unknown; ShapeError, DTypeError if a value does not
  ///         fit
  void load_state_dict(const TensorMap& state);
  /// state_dict() as a file. @throws FileError
  void save_safetensors(const std::string& path);
  /// load_state_dict() from a file. @throws FileError, and as load_state_dict()
  void load_safetensors(const std::string& path);

 protected:
  /// @param kind  its name, if the options give none: "linear"
  Layer(const LayerOptions& options, std::string_view kind);

  /// Opens this layer's scope on the tape of x, if there is one.
  std::optional<Scope> enter(const Var& x) const;
  /// The parameter as an operand beside x: the leaf of x's tape that stands for it.
  static Var watch(const Var& x, const Parameter& parameter);

  /// forward() of several inputs; f composes the result from their leaves.
  Tensor run_forward(
      std::span<const Tensor* const> inputs, FunctionRef<Var(std::span<const Var>)> f);
  /// The adjoint of input i of the last backward(); null if it had fewer inputs.
  const Tensor* input_gradient(std::size_t i) const;

  /// Renames what stands in `state` under another library's names for this layer.
  /// @param prefix  of this layer's names, such as "attn."
  virtual TensorMap with_own_names(TensorMap state, const std::string& prefix) const;

 private:
  /// The last forward(), with its tape.
  struct Call {
    MicroTape tape{Keep::needed};
    std::vector<Var> inputs;
    Var y;
  };

  enum class Mode : std::uint8_t { train, eval };
  void set_mode(Mode mode);
  void collect(const std::string& prefix, NamedParameters& out);
  TensorMap rename(TensorMap state, const std::string& prefix);

  std::string name_;
  Mode mode_ = Mode::train;
  std::unique_ptr<Call> call_;
  std::optional<Gradients> gradients_;
  std::vector<Tensor> input_gradients_;
};

}  // namespace microtape
