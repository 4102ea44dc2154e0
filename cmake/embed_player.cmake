# Puts the page of tape/view/player/ together and writes it as C++:
#   cmake -D FOLDER=<its sources> -D OUTPUT=<.cpp> -P embed_player.cmake
# The modules become one inline script, since a page from file:// may import no others: each `import`
# is left out, each `export` loses that word, and their order is the one below. What the page may
# run and look like is what stands in it, by the SHA-256 of script and style.

cmake_minimum_required(VERSION 3.22)
set(modules dom tensor folds theme color readout table picture heatmap model places closed_form
  attention inspector scope panel graph list search main)
set(most_bytes 65535)  # of a string literal, for every compiler

# A source file with the line ends that browsers see.
function(read_source name result)
  file(READ ${FOLDER}/${name} text)
  string(REPLACE "\r\n" "\n" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Content-Security-Policy takes the digest in base64, CMake gives it in hexadecimal digits.
function(base64_of_digest text result)
  string(SHA256 hex "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(out "")
  foreach(start RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${start} 6 group)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND out ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${out} 0 43 out)
  set(${result} "${out}=" PARENT_SCOPE)
endfunction()

function(append_literal text)
  string(LENGTH "${text}" bytes)
  if(bytes GREATER most_bytes OR text MATCHES "\\)page\"")
    message(FATAL_ERROR "a part of the page does not fit a string literal:\n${text}")
  endif()
  set(literals "${literals}    R\"page(${text})page\",\n" PARENT_SCOPE)
endfunction()

read_source(index.html page)
read_source(style.css style)
set(script "")
foreach(module IN LISTS modules)
  read_source(${module}.js text)
  string(REGEX REPLACE "(^|\n)import [^\n]*from '[^\n']*';" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  if(text MATCHES "(^|\n)(import|export)[ {]" OR text MATCHES "</script|<!--|</style")
    message(FATAL_ERROR "${module}.js does not fit an inline script: ${CMAKE_MATCH_0}")
  endif()
  string(APPEND script "${text}")
  set(${module}_text "${text}")
endforeach()
base64_of_digest("${script}" script_hash)
base64_of_digest("${style}" style_hash)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")

# The page as literals one behind the other: before the style, style, between, modules, after.
string(FIND "${page}" "@STYLE@" style_at)
string(FIND "${page}" "@SCRIPT@" script_at)
math(EXPR between_at "${style_at} + 7")
math(EXPR between_length "${script_at} - ${between_at}")
math(EXPR after_at "${script_at} + 8")
string(SUBSTRING "${page}" 0 ${style_at} before)
string(SUBSTRING "${page}" ${between_at} ${between_length} between)
string(SUBSTRING "${page}" ${after_at} -1 after)
set(literals "")
append_literal("${before}")
append_literal("${style}")
append_literal("${between}")
foreach(module IN LISTS modules)
  append_literal("${${module}_text}")
endforeach()
append_literal("${after}")
file(WRITE ${OUTPUT} "// Written by cmake/embed_player.cmake from tape/view/player/.\n"
  "#include <microtape/tape/view/player_page.hpp>\n\nnamespace microtape {\n\n"
  "std::span<const std::string_view> player_page() {\n"
  "  static constexpr std::string_view kParts[] = {\n${literals}  };\n"
  "  return kParts;\n}\n\n}  // namespace microtape\n")
