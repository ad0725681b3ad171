# Run as a script: writes one Python script that contains a main script and the modules it imports.
# cmake -DMAIN=main.py "-DMODULES=a.py b.py" -DOUTPUT=out.py -P BundlePython.cmake
#
# Python can read such a script from a descriptor, where there is no folder to import from. A module runs when it is
# imported, as from a file. No module may contain three single quotes in a row.
separate_arguments(MODULES)
set(sources "")
foreach(module IN LISTS MODULES)
  file(READ ${module} text)
  string(FIND "${text}" "'''" quotes)
  if(NOT quotes EQUAL -1)
    message(FATAL_ERROR "${module} contains '''")
  endif()
  get_filename_component(name ${module} NAME_WE)
  string(APPEND sources "SOURCES['${name}'] = r'''${text}'''\n")
endforeach()
file(READ ${MAIN} main)
file(WRITE ${OUTPUT} "import importlib.abc
import importlib.util
import sys

SOURCES = {}
${sources}

class Bundle(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name in SOURCES else None

    def exec_module(self, module):
        exec(compile(SOURCES[module.__name__], module.__name__ + '.py', 'exec'), module.__dict__)


sys.meta_path.insert(0, Bundle())
${main}")
