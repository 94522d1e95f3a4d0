# find_package(pagecast-simgrid): the target pagecast::simgrid, the page cache of SimGrid's hosts.
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
pkg_check_modules(SIMGRID REQUIRED IMPORTED_TARGET simgrid>=3.32)
include("${CMAKE_CURRENT_LIST_DIR}/pagecast-simgridTargets.cmake")
