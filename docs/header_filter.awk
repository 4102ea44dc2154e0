# How Doxygen reads a public header. What a header says of itself, in // before its namespace, becomes
# the text of its page; a header that says nothing has a page as well. `Var(max)(x)`, which keeps
# the macros of windows.h away, is read as `Var max(x)`. Line numbers stay.

NR == 1 && /^#pragma once/ { next }
!told && (/^\/\/ / || /^namespace/) { print "/// @file"; told = 1; above = /^\/\// }
above && /^\/\// { sub(/^\/\//, "///") }
!/^\/\// { above = 0 }
{ sub(/Var\(max\)\(/, "Var max("); sub(/Var\(min\)\(/, "Var min("); print }
