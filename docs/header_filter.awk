# How Doxygen reads a public header; each line stays where it is.
#   What a header says of itself, in // before its namespace, is the text of its page. One that says
#   nothing has a page too.
#   A comment holds for the overloads that follow at once: each gets it, as a person reads it.
#   `@{` is a comment of its own, so that what follows it belongs to the first of the group.
#   `Var(max)(x)`, which keeps the macros of windows.h away, is `Var max(x)`.

# The name of the function that a line declares, or nothing.
function declared(line) {
  if (line !~ /\(/ || line ~ /^ *(return|if|for|while|static_assert|requires)/) return ""
  if (match(line, /operator *(\(\)|\[\]|[^ (a-z]+)/)) return substr(line, RSTART, RLENGTH)
  sub(/\(.*/, "", line)
  return match(line, /[A-Za-z_]+$/) ? substr(line, RSTART) : ""
}

NR == 1 && /^#pragma once/ { next }
!told && (/^\/\/ / || /^namespace/) { print "/// @file"; told = 1; above = /^\/\// }
above && /^\/\// { sub(/^\/\//, "///"); print; next }
{ above = 0; sub(/\/\/\/ @{$/, "/** @{ */"); sub(/\(max\)\(/, " max("); sub(/\(min\)\(/, " min(")
  sub(/\/\/\/ Source: /, "/// @source ") }

/^ *\/\/\// { comment = fresh ? comment : ""; fresh = 1; text = $0; sub(/^ *\/\/\/ ?/, "", text)
  comment = comment " " text; print; next }
/^ *$/ || /^ *\/\// { comment = name = ""; fresh = 0; print; next }
{
  this = declared($0)
  if (fresh) { name = this; fresh = 0 }
  else if (this != "" && this == name && closed && /^ *[^ ]/) printf "/** %s */ ", comment
  closed = /[;}]$/
  print
}
