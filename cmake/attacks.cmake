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

# The small internet that attacks on the network run in; the end-to-end tests use the same.
set(WORLD_FILES ${PROJECT_SOURCE_DIR}/tests/e2e/network_world.py ${PROJECT_SOURCE_DIR}/tests/e2e/network_servers.py)
foreach(file ${WORLD_FILES})
  get_filename_component(name ${file} NAME)
  list(APPEND ATTACK_ENTRIES world/${name}=${file})
endforeach()

set(ATTACKS_PACK ${CMAKE_BINARY_DIR}/attacks.pack)
add_custom_command(
  OUTPUT ${ATTACKS_PACK}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/pack.py ${ATTACKS_PACK} ${ATTACK_ENTRIES}
  DEPENDS ${ATTACK_FILES} ${WORLD_FILES} ${ATTACK_PROGRAMS} ${PROJECT_SOURCE_DIR}/cmake/pack.py
  COMMENT "Packing the attacks")
add_custom_target(belljar_attacks DEPENDS ${ATTACKS_PACK})
configure_file(cmake/embed_attacks.S.in ${CMAKE_BINARY_DIR}/embed_attacks.S @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/embed_attacks.S PROPERTIES OBJECT_DEPENDS ${ATTACKS_PACK})

set(SELFTEST_SOURCES attack.cc attack_base.cc attack_files.cc attack_world.cc canary.cc program.cc residue.cc runner.cc table.cc verdict.cc)
list(TRANSFORM SELFTEST_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/selftest/)
function(belljar_selftest name core)
  add_library(${name} STATIC ${SELFTEST_SOURCES} ${CMAKE_BINARY_DIR}/embed_attacks.S)
  target_link_libraries(${name} PUBLIC ${core})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/base/async.h)
  add_dependencies(${name} belljar_attacks)
endfunction()

belljar_selftest(belljar_selftest belljar_core)

if(BELLJAR_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  belljar_core(belljar_core_switched)
  target_compile_definitions(belljar_core_switched PUBLIC BELLJAR_TEST_SWITCHES)
  target_compile_options(belljar_core_switched PRIVATE ${BELLJAR_QUICK_BUILD})
  belljar_selftest(belljar_selftest_switched belljar_core_switched)
  target_compile_options(belljar_selftest_switched PRIVATE ${BELLJAR_QUICK_BUILD})
  add_executable(mutation_test ${PROJECT_SOURCE_DIR}/tests/mutation/mutation_test.cc)
  target_link_libraries(mutation_test PRIVATE belljar_selftest_switched GTest::gtest)
  target_compile_options(mutation_test PRIVATE ${BELLJAR_QUICK_BUILD})

  # 77: this machine or this user can't make sandboxes; the reason is printed.
  add_test(NAME attacks COMMAND ${PROJECT_SOURCE_DIR}/tests/selftest.sh $<TARGET_FILE:belljar> ${CMAKE_BINARY_DIR}/test-data)
  add_test(NAME mutation COMMAND mutation_test)
  add_test(NAME release_has_no_switches COMMAND ${PROJECT_SOURCE_DIR}/tests/mutation/no_switches.sh $<TARGET_FILE:belljar>
                                                $<TARGET_FILE:mutation_test>)
  set_tests_properties(attacks mutation PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 RUN_SERIAL TRUE)
  set_tests_properties(mutation PROPERTIES ENVIRONMENT BELLJAR_TEST_DATA=${CMAKE_BINARY_DIR}/test-data)
endif()
