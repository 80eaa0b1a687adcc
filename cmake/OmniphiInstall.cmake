# What `make install` puts down: the program, its man page and completions, the C++ library with its headers, and the
# configuration that find_package(omniphi) reads. Consumers link omniphi::omniphi, in this tree and installed alike.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

target_include_directories(omniphi_api PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(omniphi_api PROPERTIES EXPORT_NAME omniphi)
add_library(omniphi::omniphi ALIAS omniphi_api)

set(OMNIPHI_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/omniphi)
get_property(OMNIPHI_LAYER_TARGETS GLOBAL PROPERTY OMNIPHI_LAYER_TARGETS)
list(REMOVE_ITEM OMNIPHI_LAYER_TARGETS omniphi_cli)

install(TARGETS ${OMNIPHI_LAYER_TARGETS} EXPORT omniphi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/omniphi)
install(EXPORT omniphi NAMESPACE omniphi:: FILE omniphiTargets.cmake DESTINATION ${OMNIPHI_PACKAGE_DIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/omniphiConfig.cmake.in omniphiConfig.cmake
                              INSTALL_DESTINATION ${OMNIPHI_PACKAGE_DIR})
write_basic_package_version_file(omniphiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/omniphiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/omniphiConfigVersion.cmake
              ${CMAKE_SOURCE_DIR}/cmake/OmniphiDependencies.cmake
        DESTINATION ${OMNIPHI_PACKAGE_DIR})

install(TARGETS omniphi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The shipped models with the media of `omniphi demo`, where src/cli/shipped_model.cc looks.
foreach(model nano nano-phi3v)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/models/${model}/model.safetensors)
    message(FATAL_ERROR "models/${model}/model.safetensors is missing: it belongs to the source tree, so this is no complete checkout")
  endif()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/models/${model} DESTINATION ${CMAKE_INSTALL_DATADIR}/omniphi/models)
endforeach()

# The program prints its own manual page and completions.
set(OMNIPHI_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${OMNIPHI_GENERATED})
add_custom_command(
  OUTPUT ${OMNIPHI_GENERATED}/omniphi.1 ${OMNIPHI_GENERATED}/omniphi.bash ${OMNIPHI_GENERATED}/_omniphi
         ${OMNIPHI_GENERATED}/omniphi.fish
  COMMAND omniphi man > ${OMNIPHI_GENERATED}/omniphi.1
  COMMAND omniphi completion bash > ${OMNIPHI_GENERATED}/omniphi.bash
  COMMAND omniphi completion zsh > ${OMNIPHI_GENERATED}/_omniphi
  COMMAND omniphi completion fish > ${OMNIPHI_GENERATED}/omniphi.fish
  DEPENDS omniphi
  VERBATIM)
add_custom_target(omniphi_manual ALL DEPENDS ${OMNIPHI_GENERATED}/omniphi.1)
install(FILES ${OMNIPHI_GENERATED}/omniphi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${OMNIPHI_GENERATED}/omniphi.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME omniphi)
install(FILES ${OMNIPHI_GENERATED}/_omniphi DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${OMNIPHI_GENERATED}/omniphi.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
