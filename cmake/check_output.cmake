# Runs PROGRAM and compares what it prints with the file EXPECTED, if there is one.
# After a change that is meant: cmake -D UPDATE=ON -D PROGRAM=.. -D EXPECTED=.. -P check_output.cmake

cmake_minimum_required(VERSION 3.22)
get_filename_component(name ${PROGRAM} NAME)
set(printed_file ${CMAKE_CURRENT_BINARY_DIR}/${name}.printed)
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE result OUTPUT_FILE ${printed_file})
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${name} ended with ${result}")
endif()
if(UPDATE)
  file(COPY_FILE ${printed_file} ${EXPECTED})
elseif(EXISTS ${EXPECTED})
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${EXPECTED} ${printed_file}
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(differs)
    execute_process(COMMAND diff -u ${EXPECTED} ${printed_file})
    message(FATAL_ERROR "${name} printed something else than ${EXPECTED} holds")
  endif()
endif()
