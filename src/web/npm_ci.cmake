# Brings the packages of package-lock.json into the build folder:   cmake -DNPM=... -DSOURCE=... -DTARGET=... -P npm_ci.cmake
foreach(file package.json package-lock.json .npmrc)
  file(COPY ${SOURCE}/${file} DESTINATION ${TARGET})
endforeach()
execute_process(COMMAND ${NPM} ci --no-progress --loglevel=error --prefer-offline
  WORKING_DIRECTORY ${TARGET} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "npm could not fetch the packages that the dashboard is bundled with (status ${status}):\n${output}\n"
    "It needs the npm registry, or npm's cache from an earlier time. To build without the dashboard: cmake -DSLUICE_DASHBOARD=OFF")
endif()
file(TOUCH ${TARGET}/installed)
