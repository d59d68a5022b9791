# Fuzzers of the decoders that read hostile bytes: one program each, clang's libFuzzer. `./dev fuzz` runs them.

set(FUZZ_OPTIONS -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)

# name: tests/fuzz/NAME.cc becomes fuzz_NAME; further arguments: the sources under test, compiled with coverage too.
function(belljar_fuzzer name)
  add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${name}.cc ${ARGN})
  target_compile_options(fuzz_${name} PRIVATE ${FUZZ_OPTIONS})
  target_link_options(fuzz_${name} PRIVATE ${FUZZ_OPTIONS})
  target_link_libraries(fuzz_${name} PRIVATE belljar_options Boost::json)
  add_dependencies(fuzzers fuzz_${name})
endfunction()

add_custom_target(fuzzers)
belljar_fuzzer(ward_request)
belljar_fuzzer(ward_reply)
belljar_fuzzer(answer ${PROJECT_SOURCE_DIR}/src/engine/calls/answer.cc ${PROJECT_SOURCE_DIR}/src/base/exact_json.cc)
belljar_fuzzer(context_message ${PROJECT_SOURCE_DIR}/src/engine/interpreters/context_messages.cc ${PROJECT_SOURCE_DIR}/src/engine/calls/answer.cc
               ${PROJECT_SOURCE_DIR}/src/base/exact_json.cc)
set(HTTP_TARGET_SOURCES address.cc headers.cc request.cc request_parser.cc router.cc target.cc)
list(TRANSFORM HTTP_TARGET_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/server/)
belljar_fuzzer(http_target ${HTTP_TARGET_SOURCES})

# The gate's readers and its policy.
set(EGRESS ${PROJECT_SOURCE_DIR}/src/egress)
set(HOST_SOURCES ${EGRESS}/host_name.cc ${EGRESS}/ip_address.cc)
belljar_fuzzer(dns_message ${EGRESS}/dns_message.cc ${HOST_SOURCES})
belljar_fuzzer(client_hello ${EGRESS}/client_hello.cc ${HOST_SOURCES})
belljar_fuzzer(http_head ${EGRESS}/http_head.cc ${EGRESS}/http_fields.cc ${EGRESS}/http_authority.cc ${EGRESS}/target_text.cc ${EGRESS}/clear_path.cc
               ${EGRESS}/plain_requests.cc ${EGRESS}/http_body.cc ${HOST_SOURCES})
belljar_fuzzer(socks5 ${EGRESS}/socks5.cc ${HOST_SOURCES})
belljar_fuzzer(network_policy ${EGRESS}/policy.cc ${EGRESS}/policy_decide.cc ${EGRESS}/policy_json.cc ${EGRESS}/json_parts.cc ${EGRESS}/port_set.cc
               ${EGRESS}/target_text.cc ${EGRESS}/clear_path.cc ${HOST_SOURCES})
belljar_fuzzer(http_answer ${EGRESS}/http_response.cc ${EGRESS}/http_body.cc ${EGRESS}/http_fields.cc ${EGRESS}/redaction.cc
               ${EGRESS}/value_forms.cc)
target_link_libraries(fuzz_http_answer PRIVATE OpenSSL::Crypto)
