# Generates the translation units of a catalogue: every system of a definition file with every method of its kind, per
# instruction set. Used for the built-in catalogue and, through the installed package, for a user's own systems:
#
#   rattleback_add_system(TARGET HEADER file TYPE "my::System<T>" KIND velocity|none)
#
# compiles the system for every method that takes its kind, on the CPU (scalar, AVX2, AVX-512) and, when the project enables
# the CUDA language and rattleback was built with it, on the GPU.

if(NOT DEFINED RATTLEBACK_CATALOGUE_DIR)
  set(RATTLEBACK_CATALOGUE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
endif()

# Flags that the bits depend on: no contraction of a*b + c, IEEE arithmetic; GCC's vectoriser contracts in spite of
# -ffp-contract=off (GCC bug 106902), and packs are written out anyway. The rest is speed: aggregates of packs must
# become registers (sra) and be copied whole (mmove-max), or spills break store forwarding.
set(RATTLEBACK_KERNEL_FLAGS -ffp-contract=off -fno-tree-vectorize -fno-math-errno -fno-trapping-math)
set(RATTLEBACK_SPEED_FLAGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(RATTLEBACK_SPEED_FLAGS --param=sra-max-scalarization-size-Ospeed=8192)
endif()

set(RATTLEBACK_FLAGS_scalar "")
set(isas scalar)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(isas scalar avx2 avx512)
  set(RATTLEBACK_FLAGS_scalar -mfma)
  set(RATTLEBACK_FLAGS_avx2 -mavx2 -mfma -DRATTLEBACK_PACK=4)
  set(RATTLEBACK_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512
                              -DRATTLEBACK_PACK=8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND RATTLEBACK_FLAGS_avx2 -mmove-max=256 -mstore-max=256)
    # GCC 12's own intrinsics header warns about its deliberately undefined operands (GCC bug 105593)
    list(APPEND RATTLEBACK_FLAGS_avx512 -mmove-max=512 -mstore-max=512 -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endif()
set(RATTLEBACK_ISAS "${isas}" CACHE STRING "Instruction sets the step loops are compiled for (scalar is needed)")

# CMake 3.25 does not know the C++20 flag of current CUDA toolkits
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

# _rattleback_instantiate(TARGET DIRECTORY SYSTEMS lines METHODS lines BUILTIN bool)
function(_rattleback_instantiate target)
  cmake_parse_arguments(ARG "BUILTIN" "" "SYSTEMS;METHODS" ${ARGN})
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/rattleback-catalogue/${target}")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(cuda FALSE)
  if("CUDA" IN_LIST languages AND RATTLEBACK_WITH_CUDA)
    set(cuda TRUE)
  endif()

  set(declarations "")
  set(registrations "")
  if(ARG_BUILTIN)
    foreach(line IN LISTS ARG_METHODS)
      string(REGEX MATCH "^RB_METHOD\\(([a-z0-9_]+), ([^,]+)," _ "${line}")
      string(APPEND declarations "#include \"rattleback/methods/${CMAKE_MATCH_2}\"\n")
      string(APPEND registrations "  catalogue.add(rattleback::methods::${CMAKE_MATCH_1});\n")
    endforeach()
  endif()

  foreach(system_line IN LISTS ARG_SYSTEMS)
    if(NOT system_line MATCHES "^RB_SYSTEM\\(([a-z0-9_]+), ([^,]+), ([a-z]+), \\((.*)\\)\\)$")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${system_line}'")
    endif()
    set(system "${CMAKE_MATCH_1}")
    set(header "${CMAKE_MATCH_2}")
    set(kind "${CMAKE_MATCH_3}")
    set(type "${CMAKE_MATCH_4}")
    if(ARG_BUILTIN)
      set(header "rattleback/systems/${header}")
    endif()
    set(prologue "#include \"${header}\"\n")
    # named after the system: a template of a template parameter is mangled by name even where it is local to a file
    set(alias "namespace rattleback::generated {\ntemplate <class T>\nusing System_${system} = ${type};\n}\n")

    file(GENERATE OUTPUT "${dir}/${system}.cpp" CONTENT "${prologue}#include \"rattleback/ensemble/describe.hpp\"
${alias}namespace rattleback::generated {
static_assert(System_${system}<double>::kind == ConstraintKind::${kind});
const SystemEntry& system_${system}() { return describe<System_${system}>(); }
}
")
    target_sources(${target} PRIVATE "${dir}/${system}.cpp")
    set_source_files_properties("${dir}/${system}.cpp" PROPERTIES COMPILE_OPTIONS "${RATTLEBACK_KERNEL_FLAGS}")
    string(APPEND declarations "namespace rattleback::generated {\nconst SystemEntry& system_${system}();\n}\n")
    string(APPEND registrations "  catalogue.add(generated::system_${system}());\n")

    foreach(method_line IN LISTS ARG_METHODS)
      if(NOT method_line MATCHES "^RB_METHOD\\(([a-z0-9_]+), ([^,]+), ([a-z]+), \\((.*)\\), ([0-9 ]+)\\)$")
        message(FATAL_ERROR "rattleback: cannot read the catalogue line '${method_line}'")
      endif()
      set(method "${CMAKE_MATCH_1}")
      set(method_header "${CMAKE_MATCH_2}")
      set(method_kind "${CMAKE_MATCH_3}")
      set(step "${CMAKE_MATCH_4}")
      string(REPLACE " " ";" stages "${CMAKE_MATCH_5}")
      if(NOT method_kind STREQUAL kind)
        continue()
      endif()
      string(REPLACE "_" "-" method_name "${method}")
      list(LENGTH stages count)

      set(steps "template <class T, class System, int S>\nusing Step_${method} = ${step};\n")
      foreach(s IN LISTS stages)
        string(APPEND steps
          "template <class T, class System>\nusing Step_${method}_${s} = Step_${method}<T, System, ${s}>;\n")
      endforeach()

      foreach(isa IN LISTS RATTLEBACK_ISAS)
        set(symbol "${system}__${method}__${isa}")
        set(table "")
        foreach(s IN LISTS stages)
          string(APPEND table "    {${s}, advance_chunk<System_${system}, Step_${method}_${s}>, advance_chunk_with_tangent<System_${system}, Step_${method}_${s}>, observe_chunk<System_${system}>, reduce_chunk<Real>, co_reduce_chunk<Real>, surfaces_chunk<System_${system}>, fma_chains<Real>},\n")
        endforeach()
        file(GENERATE OUTPUT "${dir}/${symbol}.cpp" CONTENT "#define RATTLEBACK_ISA ${isa}
#include \"rattleback/ensemble/instantiate.hpp\"
${prologue}#include \"rattleback/methods/${method_header}\"
${alias}namespace rattleback::generated {
${steps}extern const CompiledPair ${symbol}[${count}];
const CompiledPair ${symbol}[${count}] = {
${table}};
}
")
        target_sources(${target} PRIVATE "${dir}/${symbol}.cpp")
        set_source_files_properties("${dir}/${symbol}.cpp" PROPERTIES COMPILE_OPTIONS
          "${RATTLEBACK_KERNEL_FLAGS};${RATTLEBACK_SPEED_FLAGS};${RATTLEBACK_FLAGS_${isa}}")
        string(APPEND declarations "namespace rattleback::generated {\nextern const CompiledPair ${symbol}[${count}];\n}\n")
        string(APPEND registrations
          "  catalogue.add(generated::system_${system}(), \"${method_name}\", Isa::${isa}, generated::${symbol});\n")
      endforeach()

      # the same over a scalar that counts its operations; speed does not matter, time to compile does
      set(symbol "${system}__${method}__counted")
      set(table "")
      foreach(s IN LISTS stages)
        string(APPEND table "    {${s}, count_chunk<System_${system}, Step_${method}_${s}>},\n")
      endforeach()
      file(GENERATE OUTPUT "${dir}/${symbol}.cpp" CONTENT "#define RATTLEBACK_ISA counted
#define RATTLEBACK_COUNTED
#include \"rattleback/ensemble/count.hpp\"
${prologue}#include \"rattleback/methods/${method_header}\"
${alias}namespace rattleback::generated {
${steps}extern const CountedPair ${symbol}[${count}];
const CountedPair ${symbol}[${count}] = {
${table}};
}
")
      target_sources(${target} PRIVATE "${dir}/${symbol}.cpp")
      set_source_files_properties("${dir}/${symbol}.cpp" PROPERTIES COMPILE_OPTIONS
        "${RATTLEBACK_KERNEL_FLAGS};${RATTLEBACK_FLAGS_scalar};-O1;-Wno-maybe-uninitialized")
      string(APPEND declarations "namespace rattleback::generated {\nextern const CountedPair ${symbol}[${count}];\n}\n")
      string(APPEND registrations
        "  catalogue.add(generated::system_${system}(), \"${method_name}\", generated::${symbol});\n")

      if(cuda)
        set(symbol "${system}__${method}__cuda")
        set(table "")
        foreach(s IN LISTS stages)
          string(APPEND table "    {${s}, launch_advance<System_${system}, Step_${method}_${s}, false>, launch_advance<System_${system}, Step_${method}_${s}, true>, launch_advance_with_tangent<System_${system}, Step_${method}_${s}>, launch_observe<System_${system}>},\n")
        endforeach()
        file(GENERATE OUTPUT "${dir}/${symbol}.cu" CONTENT "#define RATTLEBACK_ISA cuda
#include \"rattleback/ensemble/instantiate.cuh\"
${prologue}#include \"rattleback/methods/${method_header}\"
${alias}namespace rattleback::generated {
${steps}extern const CompiledCudaPair ${symbol}[${count}];
const CompiledCudaPair ${symbol}[${count}] = {
${table}};
}
")
        target_sources(${target} PRIVATE "${dir}/${symbol}.cu")
        string(APPEND declarations
          "namespace rattleback::generated {\nextern const CompiledCudaPair ${symbol}[${count}];\n}\n")
        string(APPEND registrations
          "  catalogue.add(generated::system_${system}(), \"${method_name}\", generated::${symbol});\n")
      endif()
    endforeach()
  endforeach()

  if(ARG_BUILTIN)
    set(signature "void register_builtin(Catalogue& catalogue)")
    set(epilogue "")
  else()
    set(signature "static void register_systems(Catalogue& catalogue)")
    set(epilogue "static const bool registered = (register_systems(Catalogue::instance()), true);\n")
  endif()
  file(GENERATE OUTPUT "${dir}/registry.cpp" CONTENT "#include \"rattleback/catalogue.hpp\"
${declarations}
namespace rattleback {
${signature};
${signature} {
${registrations}}
${epilogue}}
")
  target_sources(${target} PRIVATE "${dir}/registry.cpp")
  if(cuda)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off>")
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  endif()
endfunction()

function(_rattleback_read_catalogue methods systems)
  set(file "${RATTLEBACK_CATALOGUE_FILE}")
  file(STRINGS "${file}" method_lines REGEX "^RB_METHOD")
  file(STRINGS "${file}" system_lines REGEX "^RB_SYSTEM")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(${methods} "${method_lines}" PARENT_SCOPE)
  set(${systems} "${system_lines}" PARENT_SCOPE)
endfunction()

function(rattleback_add_builtin_catalogue target)
  _rattleback_read_catalogue(methods systems)
  _rattleback_instantiate(${target} BUILTIN METHODS ${methods} SYSTEMS ${systems})
endfunction()

function(rattleback_add_system target)
  cmake_parse_arguments(ARG "" "HEADER;TYPE;KIND" "" ${ARGN})
  foreach(required HEADER TYPE KIND)
    if(NOT ARG_${required})
      message(FATAL_ERROR "rattleback_add_system: ${required} is missing; "
        "usage: rattleback_add_system(target HEADER file TYPE \"my::System<T>\" KIND velocity|none)")
    endif()
  endforeach()
  get_filename_component(header "${ARG_HEADER}" ABSOLUTE)
  string(MAKE_C_IDENTIFIER "${ARG_TYPE}" identifier)
  string(TOLOWER "user_${identifier}" identifier)
  _rattleback_read_catalogue(methods systems)
  _rattleback_instantiate(${target} METHODS ${methods}
    SYSTEMS "RB_SYSTEM(${identifier}, ${header}, ${ARG_KIND}, (${ARG_TYPE}))")
endfunction()
