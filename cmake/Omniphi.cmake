# Helpers that every folder's CMakeLists.txt uses: one static library a layer, one executable a test file.

set(OMNIPHI_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(OMNIPHI_WERROR)
  list(APPEND OMNIPHI_WARNINGS -Werror)
endif()

# Products and sums must not be fused behind our back: contraction is written out where it is wanted (docs/numerics.md).
add_compile_options(-ffp-contract=off)
if(OMNIPHI_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()
if(OMNIPHI_TSAN)
  add_compile_options(-fsanitize=thread -g1)
  add_link_options(-fsanitize=thread)
endif()

# Layers that only compute on sizes which were checked before: no input of a fuzz target can steer them, and coverage
# counters in their loops would make the sanitized tests several times slower.
set(OMNIPHI_NOT_FUZZED kernels layers)

# omniphi_layer(NAME [SOURCES files...] DEPENDS layers and libraries... [PRIVATE_DEPENDS libraries...])
# Makes the static library omniphi_NAME, which may include only headers of the layers that it depends on.
# Without SOURCES it takes every .cc of the folder.
function(omniphi_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  endif()
  add_library(omniphi_${name} STATIC ${ARG_SOURCES})
  target_compile_options(omniphi_${name} PRIVATE ${OMNIPHI_WARNINGS})
  if(OMNIPHI_BUILD_FUZZERS AND NOT name IN_LIST OMNIPHI_NOT_FUZZED)
    target_compile_options(omniphi_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  target_include_directories(omniphi_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>)
  target_link_libraries(omniphi_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  set_target_properties(omniphi_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY OMNIPHI_LAYER_TARGETS omniphi_${name})
endfunction()

# omniphi_test(NAME SOURCES... DEPENDS... [TIMEOUT seconds] [LABELS labels...])
# A GoogleTest executable registered with ctest. Tests find data in the repository through OMNIPHI_SOURCE_DIR.
# Every test carries the label `unit`, those under tests/parity `parity` instead. Add the label `slow` to a test that
# takes more than a few seconds: the sanitizers run only `unit` without `slow`.
function(omniphi_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE ${OMNIPHI_WARNINGS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE OMNIPHI_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/parity")
    list(APPEND ARG_LABELS parity)
  else()
    list(APPEND ARG_LABELS unit)
    set_property(GLOBAL APPEND PROPERTY OMNIPHI_UNIT_TESTS ${name})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
