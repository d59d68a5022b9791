# The tests: units beside the code they test, the runtimes' own suites, the attack programs' self-check.

enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

file(GLOB_RECURSE UNIT_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.cc)
list(FILTER UNIT_TESTS EXCLUDE REGEX "/src/(store|audit)/")
add_executable(unit_tests ${UNIT_TESTS})
target_link_libraries(unit_tests PRIVATE belljar_command GTest::gtest_main GTest::gmock)
target_compile_options(unit_tests PRIVATE ${BELLJAR_QUICK_BUILD})
target_precompile_headers(unit_tests PRIVATE src/base/async.h <gtest/gtest.h>)
target_compile_definitions(unit_tests PRIVATE BELLJAR_TESTS_DIRECTORY="${PROJECT_SOURCE_DIR}/tests")
# At test time, because the binary may be a sanitizer's, which doesn't run everywhere it is built.
gtest_discover_tests(unit_tests DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 180)

# The tests of the store and of the audit are a program of their own, run as a whole: they share one PostgreSQL, started
# when first needed.
file(GLOB STORE_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/store/*_test.cc ${PROJECT_SOURCE_DIR}/src/audit/*_test.cc)
add_executable(store_tests ${STORE_TESTS})
target_link_libraries(store_tests PRIVATE belljar_service GTest::gtest_main)
target_compile_options(store_tests PRIVATE ${BELLJAR_QUICK_BUILD})
target_precompile_headers(store_tests PRIVATE src/base/async.h <gtest/gtest.h>)
add_test(NAME store COMMAND store_tests)
set_tests_properties(store PROPERTIES TIMEOUT 600)

add_test(NAME runtimes.python COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/runtimes/python/runtime_test.py)
add_test(NAME runtimes.python_letta COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/runtimes/python/letta_test.py)
add_test(NAME runtimes.python_schema COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/runtimes/python/schema/schema_test.py)
add_test(NAME runtimes.interpreter COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/runtimes/python/interpreter_test.py)
set_tests_properties(runtimes.interpreter PROPERTIES TIMEOUT 300)
set_tests_properties(runtimes.python runtimes.python_letta runtimes.python_schema PROPERTIES TIMEOUT 300)

# A test that can't run here says why, and counts as skipped instead of passed.
function(belljar_skipped_test name reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${reason}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
endfunction()

# Node looks for packages upwards from a module's file, so its suite runs on a copy beside the installed packages.
find_program(NODE_PROGRAM node)
set(NODE_VERSION "")
if(NODE_PROGRAM)
  execute_process(COMMAND ${NODE_PROGRAM} --version OUTPUT_VARIABLE NODE_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" NODE_VERSION "${NODE_VERSION}")
endif()
if(NODE_VERSION VERSION_GREATER_EQUAL 20)
  set(NODE_TEST_DIR ${CMAKE_BINARY_DIR}/node_test)
  file(GLOB NODE_TEST_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtimes/node/*.mjs)
  add_custom_command(
    OUTPUT ${NODE_TEST_DIR}/.copied
    COMMAND ${CMAKE_COMMAND} -E make_directory ${NODE_TEST_DIR}
    COMMAND ${CMAKE_COMMAND} -E copy ${NODE_TEST_FILES} ${PROJECT_SOURCE_DIR}/runtimes/node/package.json ${NODE_TEST_DIR}
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${NODE_DIR}/node_modules ${NODE_TEST_DIR}/node_modules
    COMMAND ${CMAKE_COMMAND} -E touch ${NODE_TEST_DIR}/.copied
    DEPENDS ${NODE_TEST_FILES} ${PROJECT_SOURCE_DIR}/runtimes/node/package.json ${NODE_DIR}/.installed)
  add_custom_target(node_test_files ALL DEPENDS ${NODE_TEST_DIR}/.copied)
  # Both targets need the installed packages; only one of them may install them.
  add_dependencies(node_test_files belljar_inside)
  add_test(NAME runtimes.node COMMAND ${NODE_PROGRAM} --test ${NODE_TEST_DIR}/runtime_test.mjs ${NODE_TEST_DIR}/letta_test.mjs
           ${NODE_TEST_DIR}/interpreter_test.mjs)
  set_tests_properties(runtimes.node PROPERTIES TIMEOUT 300)
elseif(NODE_VERSION)
  belljar_skipped_test(runtimes.node "TypeScript tools need Node 20 or newer, this is ${NODE_VERSION}")
else()
  belljar_skipped_test(runtimes.node "TypeScript tools need Node 20 or newer, there is no node on the PATH")
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/tests/attacks/check.py)
  add_test(NAME attacks.check COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/attacks/check.py)
  set_tests_properties(attacks.check PROPERTIES TIMEOUT 300)
endif()

# The user's stories, told to the real command. Each class has a data directory of its own.
file(GLOB STORIES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/e2e/*_test.py)
foreach(story ${STORIES})
  get_filename_component(name ${story} NAME_WE)
  add_test(NAME e2e.${name} COMMAND /usr/bin/python3 ${story})
  set_tests_properties(e2e.${name} PROPERTIES TIMEOUT 600 ENVIRONMENT BELLJAR=$<TARGET_FILE:belljar>)
endforeach()
