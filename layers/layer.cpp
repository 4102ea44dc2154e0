#include <microtape/layers/layer.hpp>

#include <algorithm>
#include <set>

#include <microtape/core/format.hpp>
#include <microtape/core/random.hpp>

namespace microtape {

LayerOptions part_options(
    const LayerOptions& whole, std::string name, std::uint64_t n, std::string symbol) {
  return {.name = std::move(name),
      .dtype = whole.dtype,
      .seed = split_seed(whole.seed, n),
      .symbol = std::move(symbol)};
}

Member::Member(Layer& child) : Member(child.name(), child) {}
Member::Member(std::string member_name, Layer& child)
    : name(std::move(member_name)), layer(&child) {}

Layer::Layer(const LayerOptions& options, std::string_view kind)
    : name_(options.name.empty() ? kind : options.name) {}

std::optional<Scope> Layer::enter(const Var& x) const {
  if (MicroTape* tape = x.tape()) return tape->scope(name_);
  return std::nullopt;
}

Var Layer::watch(const Var& x, const Parameter& parameter) {
  if (MicroTape* tape = x.tape()) return tape->watch(parameter);
  return parameter.value();
}

// --- forward and backward on Tensors ---------------------------------------------------------

Tensor Layer::forward(const Tensor& x) {
  const Tensor* const inputs[] = {&x};
  return run_forward(inputs, [this](std::span<const Var> leaves) { return (*this)(leaves[0]); });
}

Tensor Layer::run_forward(
    std::span<const Tensor* const> inputs, FunctionRef<Var(std::span<const Var>)> f) {
  if (!call_) call_ = std::make_unique<Call>();
  // Forget the last call first, so that its memory serves this one.
  call_->inputs.clear();
  call_->y = Var();
  call_->tape.clear();

  std::vector<Var> leaves;
  for (const Tensor* x : inputs)
    leaves.push_back(is_floating(x->dtype()) ? call_->tape.leaf(*x) : call_->tape.constant(*x));
  call_->y = f(leaves);
  call_->inputs = std::move(leaves);
  return call_->y.value();
}

Tensor Layer::backward(const Tensor& dy) {
  if (!call_ || !call_->y.defined())
    throw TapeError(cat(name_,
        ": backward before forward: there is no result to go back from; call forward() first"));
  const Tensor& y = call_->y.value();
  if (dy.shape() != y.shape())
    throw ShapeError(cat("backward: dy does not fit: dy ", dy.shape(), ", y ", y.shape(),
        "; the adjoint of y has y's shape"));
  if (dy.dtype() != y.dtype())
    throw DTypeError(cat("backward: dy does not fit: dy ", dy.dtype(), ", y ", y.dtype(),
        "; convert it with to(", y.dtype(), ")"));
  Gradients gradients = microtape::backward(call_->y, dy);
  std::vector<Tensor> of_inputs;
  for (const Var& x : call_->inputs) {
    const bool has_adjoint = is_floating(x.dtype());
    of_inputs.push_back(has_adjoint ? gradients[x].value() : Tensor::zeros(x.shape(), x.dtype()));
  }
  gradients_ = std::move(gradients);
  input_gradients_ = std::move(of_inputs);
  return input_gradients_[0];
}

const Gradients& Layer::gradients() const {
  if (!gradients_)
    throw TapeError(cat(
        name_, ": no gradients yet: there was no backward; call forward() and backward() first"));
  return *gradients_;
}

const Tensor* Layer::input_gradient(std::size_t i) const {
  return i < input_gradients_.size() ? &input_gradients_[i] : nullptr;
}

// --- members -----------------------------------------------------------------------------------

void Layer::set_mode(Mode mode) {
  mode_ = mode;
  for (const Member& member : members())
    if (member.layer) member.layer->set_mode(mode);
}

void Layer::collect(const std::string& prefix, NamedParameters& out) {
  for (const Member& member : members()) {
    if (member.parameter) out.emplace_back(prefix + member.name, *member.parameter);
    if (member.layer) member.layer->collect(prefix + member.name + ".", out);
  }
}

std::vector<Parameter> Layer::parameters() {
  NamedParameters named;
  collect("", named);
  std::vector<Parameter> out;
  for (const auto& [name, parameter] : named)
    if (std::find(out.begin(), out.end(), parameter) == out.end()) out.push_back(parameter);
  return out;
}

// --- state -------------------------------------------------------------------------------------

Layer::NamedParameters Layer::named_parameters() {
  NamedParameters named;
  collect("", named);
  std::set<std::string_view> names;
  for (const auto& [name, parameter] : named)
    if (!names.insert(name).second)
      throw ValueError(cat("state_dict: two parameters of ", name_, " are called ", name,
          "; give each layer a name of its own: LayerOptions{.name}"));
  return named;
}

TensorMap Layer::state_dict() {
  TensorMap state;
  for (const auto& [name, parameter] : named_parameters()) state.emplace(name, parameter.value());
  return state;
}

TensorMap Layer::with_own_names(TensorMap state, const std::string&) const { return state; }

TensorMap Layer::rename(TensorMap state, const std::string& prefix) {
  state = with_own_names(std::move(state), prefix);
  for (const Member& member : members())
    if (member.layer) state = member.layer->rename(std::move(state), prefix + member.name + ".");
  return state;
}

void Layer::load_state_dict(const TensorMap& given) {
  const TensorMap state = rename(given, "");
  const NamedParameters named = named_parameters();

  // Check all before setting any.
  TensorMap unknown = state;
  for (const auto& [name, parameter] : named) {
    const auto found = state.find(name);
    if (found == state.end())
      throw ValueError(cat("load_state_dict: ", name, " is missing: ", name_, " needs ", name, " ",
          parameter.value().shape(), "; give every parameter"));
    const Tensor& value = found->second;
    if (value.shape() != parameter.value().shape())
      throw ShapeError(cat("load_state_dict: ", name, " has another shape: ", value.shape(), "; ",
          name_, " needs ", parameter.value().shape()));
    if (value.dtype() != parameter.value().dtype())
      throw DTypeError(cat("load_state_dict: ", name, " has another dtype: ", value.dtype(), "; ",
          name_, " needs ", parameter.value().dtype(), ": convert it with to(",
          parameter.value().dtype(), ")"));
    unknown.erase(name);
  }
  if (!unknown.empty())
    throw ValueError(cat("load_state_dict: ", unknown.begin()->first, " is unknown: ", name_,
        " has no such parameter; leave it out"));

  for (const auto& [name, parameter] : named)
    parameter.mutable_value() = state.at(name).contiguous();
}

void Layer::save_safetensors(const std::string& path) { write_safetensors(path, state_dict()); }

void Layer::load_safetensors(const std::string& path) {
  load_state_dict(read_safetensors(path).tensors);
}

}  // namespace microtape
