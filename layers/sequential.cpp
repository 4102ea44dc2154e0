#include <microtape/layers/sequential.hpp>

namespace microtape {

Var Sequential::operator()(const Var& x) {
  const auto scope = enter(x);
  Var y = x;
  for (const std::unique_ptr<Layer>& layer : layers_) y = (*layer)(y);
  return y;
}

std::vector<Member> Sequential::members() {
  std::vector<Member> out;
  for (const std::unique_ptr<Layer>& layer : layers_)
    out.emplace_back(std::to_string(out.size()), *layer);
  return out;
}

}  // namespace microtape
