# The load program of `belljar bench`: an HTTPS server outside and clients inside a sandbox. Linked with the OpenSSL that
# the command itself needs; the template `base` has it.

add_executable(belljar_load ${PROJECT_SOURCE_DIR}/src/bench/load/main.cc ${PROJECT_SOURCE_DIR}/src/bench/load/tls.cc)
target_compile_options(belljar_load PRIVATE ${BELLJAR_INCLUDES} ${BELLJAR_WARNINGS})
target_link_options(belljar_load PRIVATE -fuse-ld=lld -Wl,-s)
target_link_libraries(belljar_load PRIVATE OpenSSL::SSL Threads::Threads)
set(LOAD_PATH ${CMAKE_BINARY_DIR}/belljar_load)
configure_file(cmake/embed_load.S.in ${CMAKE_BINARY_DIR}/embed_load.S @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/embed_load.S PROPERTIES OBJECT_DEPENDS ${LOAD_PATH})
set(BELLJAR_LOAD ${CMAKE_BINARY_DIR}/embed_load.S)
