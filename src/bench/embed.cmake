# cmake -DSOURCE=<folder of workloads> -DOUT=<file.cc> -P embed.cmake: every workload's files as one C++ file.
file(GLOB files RELATIVE ${SOURCE} ${SOURCE}/*/*.sql)
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(workload ${file} DIRECTORY)
  get_filename_component(name ${file} NAME)
  file(READ ${SOURCE}/${file} text)
  string(APPEND rows "    {\"${workload}\", \"${name}\", R\"=sql=(${text})=sql=\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"bench/workload.h\"

namespace sluice::bench {
namespace {

constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() noexcept {
  return kFiles;
}

}  // namespace sluice::bench
")
