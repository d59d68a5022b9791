# Programs that run inside sandboxes: linked against nothing, so that any image works, and packed into the binary.

set(FREESTANDING -O2 -std=c++20 -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -fno-threadsafe-statics
    -fno-asynchronous-unwind-tables -fno-builtin -fPIC ${BELLJAR_INCLUDES} ${BELLJAR_WARNINGS})

function(belljar_freestanding name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${FREESTANDING})
  target_link_options(${name} PRIVATE -nostdlib -static -fuse-ld=lld -Wl,-z,noexecstack -Wl,--gc-sections -Wl,-s)
endfunction()

belljar_freestanding(warden src/warden/main.cc src/warden/files.cc src/warden/spawn.cc src/warden/memory.cc)
belljar_freestanding(sudo src/warden/sudo.cc src/warden/sudo_terminal.cc src/warden/memory.cc)

# The zygote's C part: CPython's stable ABI, no C library of its own.
execute_process(COMMAND /usr/bin/python3 -c "import sysconfig; print(sysconfig.get_path('include'))"
                OUTPUT_VARIABLE PYTHON_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE)
add_library(belljar_zygote MODULE runtimes/python/zygote_module.cc src/seal/call_networks.cc src/seal/carry_out.cc)
target_compile_options(belljar_zygote PRIVATE ${FREESTANDING} -isystem ${PYTHON_INCLUDE})
target_link_options(belljar_zygote PRIVATE -nostdlib -fuse-ld=lld -Wl,-s)
set_target_properties(belljar_zygote PROPERTIES PREFIX "" OUTPUT_NAME belljar_zygote SUFFIX .abi3.so)

# Node's packages, at the versions that package-lock.json pins.
set(NODE_DIR ${CMAKE_BINARY_DIR}/node)
file(GLOB NODE_FILES CONFIGURE_DEPENDS runtimes/node/*.mjs)
list(FILTER NODE_FILES EXCLUDE REGEX "_test\\.mjs$")
add_custom_command(
  OUTPUT ${NODE_DIR}/.installed
  COMMAND ${CMAKE_COMMAND} -E make_directory ${NODE_DIR}
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/runtimes/node/package.json
          ${PROJECT_SOURCE_DIR}/runtimes/node/package-lock.json ${NODE_DIR}
  COMMAND npm ci --prefix ${NODE_DIR} --silent --no-audit --no-fund --ignore-scripts
  COMMAND ${CMAKE_COMMAND} -E touch ${NODE_DIR}/.installed
  DEPENDS runtimes/node/package.json runtimes/node/package-lock.json
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  COMMENT "Installing the TypeScript stripper (npm ci)")

# Compiled ahead for the build machine's Python: a zygote that compiles them itself is larger. Other versions do that.
file(GLOB PYTHON_FILES CONFIGURE_DEPENDS runtimes/python/belljar_runtime/*.py)
file(GLOB INTERPRETER_FILES CONFIGURE_DEPENDS runtimes/python/belljar_interpreter/*.py)
set(PYTHON_DIR ${CMAKE_BINARY_DIR}/python)
add_custom_command(
  OUTPUT ${PYTHON_DIR}/.compiled
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PYTHON_DIR}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PYTHON_DIR}/belljar_runtime ${PYTHON_DIR}/belljar_interpreter
  COMMAND ${CMAKE_COMMAND} -E copy ${PYTHON_FILES} ${PYTHON_DIR}/belljar_runtime
  COMMAND ${CMAKE_COMMAND} -E copy ${INTERPRETER_FILES} ${PYTHON_DIR}/belljar_interpreter
  COMMAND /usr/bin/python3 -m compileall -q --invalidation-mode unchecked-hash -s ${PYTHON_DIR} -p /opt/belljar/python
          ${PYTHON_DIR}/belljar_runtime ${PYTHON_DIR}/belljar_interpreter
  COMMAND ${CMAKE_COMMAND} -E touch ${PYTHON_DIR}/.compiled
  DEPENDS ${PYTHON_FILES} ${INTERPRETER_FILES}
  COMMENT "Compiling the Python runtime")

# One source text out of a folder of modules: the engine runs it as a call like any other.
file(GLOB SCHEMA_FILES CONFIGURE_DEPENDS runtimes/python/schema/*.py)
set(SCHEMA_TOOL ${CMAKE_BINARY_DIR}/schema_tool.py)
add_custom_command(
  OUTPUT ${SCHEMA_TOOL}
  COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/runtimes/python/schema/join.py ${SCHEMA_TOOL}
  DEPENDS ${SCHEMA_FILES}
  COMMENT "Joining the schema tool")

set(PACK ${CMAKE_BINARY_DIR}/runtimes.pack)
set(PACK_ENTRIES
  bin/sudo=$<TARGET_FILE:sudo>
  python/belljar_zygote.abi3.so=$<TARGET_FILE:belljar_zygote>
  python/main.py=${PROJECT_SOURCE_DIR}/runtimes/python/main.py
  python/prepare_environment.py=${PROJECT_SOURCE_DIR}/runtimes/python/prepare_environment.py
  python/belljar_runtime=${PYTHON_DIR}/belljar_runtime
  python/interpreter.py=${PROJECT_SOURCE_DIR}/runtimes/python/interpreter.py
  python/belljar_interpreter=${PYTHON_DIR}/belljar_interpreter
  bash/interpreter.sh=${PROJECT_SOURCE_DIR}/runtimes/bash/interpreter.sh
  python/schema_tool.py=${SCHEMA_TOOL}
  node/node_modules=${NODE_DIR}/node_modules
  node/package.json=${NODE_DIR}/package.json)
foreach(file ${NODE_FILES})
  get_filename_component(name ${file} NAME)
  list(APPEND PACK_ENTRIES node/${name}=${file})
endforeach()
add_custom_command(
  OUTPUT ${PACK}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/pack.py ${PACK} ${PACK_ENTRIES}
  DEPENDS sudo belljar_zygote ${PYTHON_DIR}/.compiled ${SCHEMA_TOOL} runtimes/python/main.py
          runtimes/python/prepare_environment.py runtimes/python/interpreter.py runtimes/bash/interpreter.sh ${NODE_FILES} ${NODE_DIR}/.installed cmake/pack.py
  COMMENT "Packing the runtimes")

set(WARDEN_PATH ${CMAKE_BINARY_DIR}/warden)
set(PACK_PATH ${PACK})
configure_file(cmake/embed.S.in ${CMAKE_BINARY_DIR}/embed.S @ONLY)
set(BELLJAR_EMBEDDED ${CMAKE_BINARY_DIR}/embed.S)
set_source_files_properties(${BELLJAR_EMBEDDED} PROPERTIES OBJECT_DEPENDS "${PACK};${WARDEN_PATH}")
add_custom_target(belljar_inside DEPENDS ${PACK} warden)
