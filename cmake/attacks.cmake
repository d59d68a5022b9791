# The attack programs: packed into the binary for `belljar selftest`, and run with controls switched off by the mutation
# test, which is a second build of the core that a release does not contain.

set(ATTACK_DIR ${PROJECT_SOURCE_DIR}/tests/attacks)
file(GLOB ATTACK_FILES CONFIGURE_DEPENDS ${ATTACK_DIR}/[0-9]*.py ${ATTACK_DIR}/[0-9]*.sh ${ATTACK_DIR}/[0-9]*.c)
set(ATTACK_ENTRIES "")
set(ATTACK_PROGRAMS "")
foreach(file ${ATTACK_FILES})
  get_filename_component(name ${file} NAME)
  get_filename_component(stem ${file} NAME_WE)
  list(APPEND ATTACK_ENTRIES ${name}=${file})
  if(name MATCHES "\\.c$")
    set(program ${CMAKE_BINARY_DIR}/attacks/${stem})
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/attacks
      COMMAND ${CMAKE_CXX_COMPILER} -x c -std=gnu17 -O1 -Wall -Wextra -Werror -static -s -fuse-ld=lld ${file} -o ${program}
      DEPENDS ${file}
      COMMENT "Compiling the attack ${name}")
    list(APPEND ATTACK_PROGRAMS ${program})
    list(APPEND ATTACK_ENTRIES ${stem}=${program})
  endif()
endforeach()

set(ATTACKS_PACK ${CMAKE_BINARY_DIR}/attacks.pack)
add_custom_command(
  OUTPUT ${ATTACKS_PACK}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/pack.py ${ATTACKS_PACK} ${ATTACK_ENTRIES}
  DEPENDS ${ATTACK_FILES} ${ATTACK_PROGRAMS} ${PROJECT_SOURCE_DIR}/cmake/pack.py
  COMMENT "Packing the attacks")
add_custom_target(belljar_attacks DEPENDS ${ATTACKS_PACK})
configure_file(cmake/embed_attacks.S.in ${CMAKE_BINARY_DIR}/embed_attacks.S @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/embed_attacks.S PROPERTIES OBJECT_DEPENDS ${ATTACKS_PACK})

set(SELFTEST_SOURCES attack.cc attack_files.cc canary.cc program.cc residue.cc runner.cc table.cc verdict.cc)
list(TRANSFORM SELFTEST_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/selftest/)
function(belljar_selftest name core)
  add_library(${name} STATIC ${SELFTEST_SOURCES} ${CMAKE_BINARY_DIR}/embed_attacks.S)
  target_link_libraries(${name} PUBLIC ${core})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/base/async.h)
  add_dependencies(${name} belljar_attacks)
endfunction()

belljar_selftest(belljar_selftest belljar_core)
