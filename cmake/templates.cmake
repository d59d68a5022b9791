# The manifests of templates that come with Belljar, packed into the binary.

file(GLOB TEMPLATE_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/templates/*.template)
set(TEMPLATE_ENTRIES "")
foreach(file ${TEMPLATE_FILES})
  get_filename_component(name ${file} NAME_WE)
  list(APPEND TEMPLATE_ENTRIES ${name}=${file})
endforeach()
set(TEMPLATES_PACK ${CMAKE_BINARY_DIR}/templates.pack)
add_custom_command(
  OUTPUT ${TEMPLATES_PACK}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/pack.py ${TEMPLATES_PACK} ${TEMPLATE_ENTRIES}
  DEPENDS ${TEMPLATE_FILES} ${PROJECT_SOURCE_DIR}/cmake/pack.py
  COMMENT "Packing the templates")
add_custom_target(belljar_templates DEPENDS ${TEMPLATES_PACK})
configure_file(cmake/embed_templates.S.in ${CMAKE_BINARY_DIR}/embed_templates.S @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/embed_templates.S PROPERTIES OBJECT_DEPENDS ${TEMPLATES_PACK})
set(BELLJAR_TEMPLATES ${CMAKE_BINARY_DIR}/embed_templates.S)
