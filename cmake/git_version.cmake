# Writes the commit of SOURCE_DIR to OUT. Does not touch OUT when nothing changed.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(git unknown)
endif()
set(text "#ifndef RINGSIDE_EXPERIMENTS_GENERATED_GIT_VERSION_H_
#define RINGSIDE_EXPERIMENTS_GENERATED_GIT_VERSION_H_
namespace ringside {
inline constexpr char kGitVersion[] = \"${git}\";
}
#endif
")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
