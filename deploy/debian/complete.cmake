# Run by CPack on the staged tree, before it is packed: what Debian wants and a plain installation does not.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(doc ${root}/usr/share/doc/sluice)
set(man ${root}/usr/share/man/man1)
file(MAKE_DIRECTORY ${man} ${root}/usr/share/lintian/overrides)

string(TIMESTAMP SLUICE_CHANGELOG_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${doc}/changelog @ONLY)
execute_process(COMMAND gzip -9nf ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice.1 ${man}/sluice.1 COPYONLY)
execute_process(COMMAND gzip -9nf ${man}/sluice.1 COMMAND_ERROR_IS_FATAL ANY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lintian-overrides ${root}/usr/share/lintian/overrides/sluice COPYONLY)
file(MAKE_DIRECTORY ${root}/etc/logrotate.d)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice.logrotate ${root}/etc/logrotate.d/sluice COPYONLY)
# Files may be private in the source tree; a package's are for all to read.
execute_process(COMMAND chmod -R u+rwX,go+rX,go-w ${root} COMMAND_ERROR_IS_FATAL ANY)
