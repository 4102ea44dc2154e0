#pragma once

#include <set>

#include "cases/case_file.hpp"

namespace microtape::testing {

/// "F04 F05": the cases of a kind that are not among those tested, with a warning if there are any.
inline std::string missing_cases(const std::string& kind, const std::set<std::string>& tested) {
  std::ifstream file(tests_folder("cases") / "cases.json");
  const Json all = Json::parse(file);
  std::string missing;
  for (const Json& item : all.at("cases"))
    if (item.at("kind") == kind && !tested.count(item.at("id")))
      missing += (missing.empty() ? "" : " ") + item.at("id").get<std::string>();
  if (!missing.empty()) WARN("missing: " << missing);
  return missing;
}

}  // namespace microtape::testing
