# Generates the translation units of a catalogue: every system of a definition file with every method of the system's kind, per
# instruction set. The built-in catalogue uses this file. The installed package uses this file for the systems of a user:
#
#   rattleback_add_system(TARGET HEADER file TYPE "my::System<T>" KIND velocity|holonomic|none [METHODS method ..])
#
# The call compiles the system for every method that takes the system, or for the named methods (holonomic_lobatto, hbvm). The
# code runs on the CPU (scalar; AVX2, AVX-512 or NEON). Code for the GPU is added when the project enables the CUDA language and
# rattleback was built with CUDA.

include(CheckCXXSourceRuns)

if(NOT DEFINED RATTLEBACK_CATALOGUE_DIR)
  set(RATTLEBACK_CATALOGUE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
endif()

# These flags decide the bits: no contraction of a*b + c, IEEE arithmetic. GCC's vectoriser is off, because it contracts in
# spite of -ffp-contract=off (GCC bug 106902); packs are written out anyway. The other flags are for speed: aggregates of packs
# must become registers (sra) and be copied whole (mmove-max), otherwise spills break store forwarding.
set(RATTLEBACK_KERNEL_FLAGS -ffp-contract=off -fno-tree-vectorize -fno-math-errno -fno-trapping-math -Werror=switch)
set(RATTLEBACK_SPEED_FLAGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The steps are large straight code. A tenth of the default number of alias queries saves compile time and has no other
  # effect.
  set(RATTLEBACK_SPEED_FLAGS --param=sra-max-scalarization-size-Ospeed=8192
                             --param=sccvn-max-alias-queries-per-access=100)
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
    # GCC 12's intrinsics header warns about operands that are undefined on purpose (GCC bug 105593).
    list(APPEND RATTLEBACK_FLAGS_avx512 -mmove-max=512 -mstore-max=512 -Wno-uninitialized -Wno-maybe-uninitialized)
    # With 32 registers, scheduling before register allocation saves a twentieth of the time.
    list(APPEND RATTLEBACK_FLAGS_avx512 -fschedule-insns -fsched-pressure)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  set(isas scalar neon)
  set(RATTLEBACK_FLAGS_neon -DRATTLEBACK_PACK=2)
endif()
# Tests whether the processor of this machine runs the code of an instruction set.
function(rattleback_isa_runs isa result)
  set(features_scalar "fma")
  set(features_avx2 "fma" "avx2")
  set(features_avx512 "fma" "avx512f" "avx512dq" "avx512vl")
  set(runs TRUE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CROSSCOMPILING)
    list(TRANSFORM features_${isa} REPLACE ".+" "__builtin_cpu_supports(\"\\0\")" OUTPUT_VARIABLE questions)
    list(JOIN questions " && " question)
    check_cxx_source_runs("int main() { return ${question} ? 0 : 1; }" RATTLEBACK_RUNS_${isa})
    set(runs ${RATTLEBACK_RUNS_${isa}})
  endif()
  set(${result} "${runs}" PARENT_SCOPE)
endfunction()

set(RATTLEBACK_ISAS "${isas}" CACHE STRING "Instruction sets the step loops are compiled for (scalar is needed)")

set(RATTLEBACK_NATIVE OFF CACHE BOOL "Leave out the instruction sets that the processor of this machine has not")
if(RATTLEBACK_NATIVE)
  foreach(isa IN LISTS RATTLEBACK_ISAS)
    rattleback_isa_runs(${isa} runs)
    if(NOT runs)
      list(REMOVE_ITEM RATTLEBACK_ISAS ${isa})
    endif()
  endforeach()
endif()

# CMake 3.25 does not know the C++20 flag of current CUDA toolkits.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

set(RATTLEBACK_SYSTEMS ".*" CACHE STRING "Systems of the catalogue to compile: a regular expression of their identifiers")
set(RATTLEBACK_KERNELS ".*" CACHE STRING "Methods of these systems to compile: a regular expression of SYSTEM__METHOD")

# Makes all combinations of the values of a method's options, "stages = 2 3, retraction on groups = Cay Exp", as parallel lists:
#   _names      Step_METHOD_2_Cay  Step_METHOD_2_Exp ..
#   _on_rn      Step_METHOD_2_Cay  Step_METHOD_2_Cay ..     the step used on R^n
#   _arguments  T, System, 2, Cay  T, System, 2, Exp ..
#   _keys       0, 2, 0            0, 2, 1 ..               a 0, then numbers or indices of types, as in PairKey
# _parameters is "class T, class System, int stages, class retraction".
function(_rattleback_combinations method options)
  set(names "Step_${method}")
  set(on_rn "Step_${method}")
  set(arguments "T, System")
  set(keys "0")
  set(parameters "class T, class System")
  string(REPLACE ", " ";" options "${options}")
  foreach(option IN LISTS options)
    if(NOT option MATCHES "^([a-z0-9_:]+)( on groups)? = (.+)$")
      message(FATAL_ERROR "rattleback: cannot read the option '${option}' of the method '${method}'")
    endif()
    string(REPLACE ":" ";" option_names "${CMAKE_MATCH_1}")
    set(on_groups "${CMAKE_MATCH_2}")
    string(REPLACE " " ";" values "${CMAKE_MATCH_3}")
    list(GET values 0 first)

    set(column 0)
    foreach(option_name IN LISTS option_names)
      set(types_${column} "")
      foreach(value IN LISTS values)
        string(REPLACE ":" ";" parts "${value}")
        list(GET parts ${column} part)
        if(NOT part MATCHES "^[0-9]+$")
          list(APPEND types_${column} "${part}")
        endif()
      endforeach()
      list(REMOVE_DUPLICATES types_${column})
      if(types_${column})
        string(APPEND parameters ", class ${option_name}")
      else()
        string(APPEND parameters ", int ${option_name}")
      endif()
      math(EXPR column "${column} + 1")
    endforeach()

    foreach(each names on_rn arguments keys)
      set(longer_${each} "")
    endforeach()
    foreach(name base argument key IN ZIP_LISTS names on_rn arguments keys)
      foreach(value IN LISTS values)
        set(value_on_rn "${value}")
        if(on_groups)
          set(value_on_rn "${first}")
        endif()
        set(value_key "")
        set(column 0)
        string(REPLACE ":" ";" parts "${value}")
        foreach(part IN LISTS parts)
          if(NOT part MATCHES "^[0-9]+$")
            list(FIND types_${column} "${part}" part)
          endif()
          string(APPEND value_key ", ${part}")
          math(EXPR column "${column} + 1")
        endforeach()
        list(APPEND longer_names "${name}_${value}")
        list(APPEND longer_on_rn "${base}_${value_on_rn}")
        list(APPEND longer_arguments "${argument}, ${value}")
        list(APPEND longer_keys "${key}${value_key}")
      endforeach()
    endforeach()
    string(REPLACE ":" "_" names "${longer_names}")
    string(REPLACE ":" "_" on_rn "${longer_on_rn}")
    string(REPLACE ":" ", " arguments "${longer_arguments}")
    set(keys "${longer_keys}")
  endforeach()
  foreach(each names on_rn arguments keys parameters)
    set(_${each} "${${each}}" PARENT_SCOPE)
  endforeach()
endfunction()

# _rattleback_instantiate(TARGET [BUILTIN] SYSTEMS lines METHODS lines [NOT_AHEAD system__method ..])
# A method in a header with an absolute path belongs to the target and is added to the target's catalogue.
function(_rattleback_instantiate target)
  cmake_parse_arguments(ARG "BUILTIN" "" "SYSTEMS;METHODS;NOT_AHEAD" ${ARGN})
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/rattleback-catalogue/${target}")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(cuda FALSE)
  if("CUDA" IN_LIST languages AND RATTLEBACK_WITH_CUDA)
    set(cuda TRUE)
  endif()

  set(declarations "")
  set(registrations "")
  set(methods "")
  foreach(line IN LISTS ARG_METHODS)
    if(NOT line MATCHES "^RB_METHOD\\(([a-z0-9_]+), ([^,]+), ([a-z ]+), \\((.*)\\)(, ([a-z0-9_:]+( on groups)? = .*))?\\)$")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${line}'")
    endif()
    set(method "${CMAKE_MATCH_1}")
    list(APPEND methods "${method}")
    set(${method}_header "${CMAKE_MATCH_2}")
    string(REPLACE " " ";" ${method}_kinds "${CMAKE_MATCH_3}")
    set(step "${CMAKE_MATCH_4}")
    _rattleback_combinations("${method}" "${CMAKE_MATCH_6}")
    set(${method}_loops "${method}")  # the method whose loops this method runs
    if(step MATCHES "^as ([a-z0-9_]+)$")
      set(${method}_loops "${CMAKE_MATCH_1}")
      set(step "")
    endif()
    set(own TRUE)
    string(REGEX REPLACE "\\.hpp$" "_entry.hpp" entry "${${method}_header}")
    if(NOT IS_ABSOLUTE "${${method}_header}")
      cmake_path(GET ${method}_header PARENT_PATH folder)
      set(entry "rattleback/methods/${folder}/entry.hpp")
      set(${method}_header "rattleback/methods/${${method}_header}")
      set(own "${ARG_BUILTIN}")
    endif()
    if(own)
      string(APPEND declarations "#include \"${entry}\"\n")
      string(APPEND registrations "  catalogue.add(rattleback::methods::${method});\n")
    endif()
    # Each combination of options has a type: the step with these options fixed.
    set(${method}_steps "template <${_parameters}>\nusing Family_${method} = ${step};\n")
    foreach(name arguments IN ZIP_LISTS _names _arguments)
      string(REPLACE "T, System" "" fixed "${arguments}")
      string(APPEND ${method}_steps "struct ${name} {\n  template <class T, class System>\n"
                                    "  using of = Family_${method}<T, System${fixed}>;\n};\n")
    endforeach()
    foreach(each names on_rn keys)
      set(${method}_${each} "${_${each}}")
    endforeach()
  endforeach()

  foreach(system_line IN LISTS ARG_SYSTEMS)
    if(NOT system_line MATCHES "^RB_SYSTEM\\(([a-z0-9_]+), ([^,]+), ([a-z]+), \\((.*)\\)(, methods = ([a-z0-9_ ]+))?\\)$")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${system_line}'")
    endif()
    set(system "${CMAKE_MATCH_1}")
    set(header "${CMAKE_MATCH_2}")
    set(kind "${CMAKE_MATCH_3}")
    set(type "${CMAKE_MATCH_4}")
    set(its_methods "${methods}")
    if(CMAKE_MATCH_6)
      string(REPLACE " " ";" its_methods "${CMAKE_MATCH_6}")
      foreach(method IN LISTS its_methods)
        if(NOT method IN_LIST methods)
          message(FATAL_ERROR "rattleback: the system '${system}' names a method '${method}', which there is not")
        endif()
      endforeach()
    endif()
    if(ARG_BUILTIN)
      set(header "rattleback/systems/${header}")
    endif()
    set(prologue "#include \"${header}\"\n")
    # The system gives the name, because a template template argument is mangled by name, even if the template is local to a
    # file.
    set(alias "namespace rattleback::generated {\ntemplate <class T>\nusing System_${system} = ${type};\n}\n")

    file(GENERATE OUTPUT "${dir}/${system}.cpp" CONTENT "${prologue}#include \"rattleback/loop/describe.hpp\"
${alias}namespace rattleback::generated {
static_assert(System_${system}<double>::kind == ConstraintKind::${kind});
const SystemEntry& system_${system}() { return describe<System_${system}>(); }
}
")
    target_sources(${target} PRIVATE "${dir}/${system}.cpp")
    set_source_files_properties("${dir}/${system}.cpp" PROPERTIES COMPILE_OPTIONS "${RATTLEBACK_KERNEL_FLAGS}")
    string(APPEND declarations "namespace rattleback::generated {\nconst SystemEntry& system_${system}();\n}\n")
    string(APPEND registrations "  catalogue.add(generated::system_${system}());\n")

    foreach(method IN LISTS methods)
      if(NOT kind IN_LIST ${method}_kinds OR NOT method IN_LIST its_methods OR "${system}__${method}" IN_LIST ARG_NOT_AHEAD)
        continue()
      endif()
      string(REPLACE "_" "-" method_name "${method}")
      set(loops "${${method}_loops}")
      if(NOT "${system}__${loops}" MATCHES "^(${RATTLEBACK_KERNELS})$")
        continue()
      endif()
      if(NOT loops STREQUAL method)
        if(NOT loops IN_LIST its_methods OR "${system}__${loops}" IN_LIST ARG_NOT_AHEAD)
          message(FATAL_ERROR "rattleback: the method '${method}' runs the loops of '${loops}', which the system '${system}' leaves out")
        endif()
        foreach(isa IN LISTS RATTLEBACK_ISAS)
          string(APPEND registrations
            "  catalogue.add(generated::system_${system}(), \"${method_name}\", Isa::${isa}, generated::${system}__${loops}__${isa});\n")
        endforeach()
        foreach(kind_of_loop counted cuda)
          if(cuda OR kind_of_loop STREQUAL "counted")
            string(APPEND registrations
              "  catalogue.add(generated::system_${system}(), \"${method_name}\", generated::${system}__${loops}__${kind_of_loop});\n")
          endif()
        endforeach()
        continue()
      endif()
      list(LENGTH ${method}_names count)
      set(includes "${prologue}#include \"${${method}_header}\"\n")

      # On R^n, options that matter only on groups are compiled once.
      set(steps "${${method}_steps}")
      set(keys "")
      set(fixed "")
      foreach(name on_rn key IN ZIP_LISTS ${method}_names ${method}_on_rn ${method}_keys)
        string(REGEX REPLACE "^0,? ?" "" key "${key}")
        list(APPEND keys "{${key}}")
        if(NOT name STREQUAL on_rn)
          string(APPEND steps "using On_${system}_${name} = std::conditional_t<on_group<System_${system}<double>>, ${name}, ${on_rn}>;\n")
          set(name "On_${system}_${name}")
        endif()
        list(APPEND fixed "${name}")
      endforeach()

      foreach(isa IN LISTS RATTLEBACK_ISAS)
        set(symbol "${system}__${method}__${isa}")
        set(table "")
        foreach(key step IN ZIP_LISTS keys fixed)
          string(APPEND table "    compiled_pair<System_${system}, ${step}>(${key}),\n")
        endforeach()
        file(GENERATE OUTPUT "${dir}/${symbol}.cpp" CONTENT "#define RATTLEBACK_ISA ${isa}
#include \"rattleback/loop/instantiate.hpp\"
${includes}${alias}namespace rattleback::generated {
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

      # The counted loops use a scalar that counts operations. Compile time matters here, speed does not.
      set(symbol "${system}__${method}__counted")
      set(table "")
      foreach(key step IN ZIP_LISTS keys fixed)
        string(APPEND table "    counted_pair<System_${system}, ${step}>(${key}),\n")
      endforeach()
      file(GENERATE OUTPUT "${dir}/${symbol}.cpp" CONTENT "#define RATTLEBACK_ISA counted
#define RATTLEBACK_SMALL_CODE
#include \"rattleback/loop/count.hpp\"
${includes}${alias}namespace rattleback::generated {
${steps}extern const CountedPair ${symbol}[${count}];
const CountedPair ${symbol}[${count}] = {
${table}};
}
")
      target_sources(${target} PRIVATE "${dir}/${symbol}.cpp")
      set_source_files_properties("${dir}/${symbol}.cpp" PROPERTIES COMPILE_OPTIONS
        "${RATTLEBACK_KERNEL_FLAGS};${RATTLEBACK_FLAGS_scalar};-O1;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
      string(APPEND declarations "namespace rattleback::generated {\nextern const CountedPair ${symbol}[${count}];\n}\n")
      string(APPEND registrations
        "  catalogue.add(generated::system_${system}(), \"${method_name}\", generated::${symbol});\n")

      if(cuda)
        set(symbol "${system}__${method}__cuda")
        set(table "")
        foreach(key step IN ZIP_LISTS keys fixed)
          string(APPEND table "    compiled_cuda_pair<System_${system}, ${step}>(${key}),\n")
        endforeach()
        file(GENERATE OUTPUT "${dir}/${symbol}.cu" CONTENT "#define RATTLEBACK_ISA cuda
#include \"rattleback/loop/instantiate.cuh\"
${includes}${alias}namespace rattleback::generated {
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
  file(GENERATE OUTPUT "${dir}/registry.cpp" CONTENT "#include \"rattleback/catalogue/catalogue.hpp\"
${declarations}
namespace rattleback {
${signature};
${signature} {
${registrations}}
${epilogue}}
")
  target_sources(${target} PRIVATE "${dir}/registry.cpp")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "/rattleback-catalogue/")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  if(cuda)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off,-Wno-unknown-pragmas>")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)  # compression to a tenth of the size
      set(mode size)
      if(RATTLEBACK_CUDA_QUICK)
        set(mode balance)
      endif()
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=${mode}>")
    endif()
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  endif()
endfunction()

# Reads the lines of the catalogue, but only the systems that match RATTLEBACK_SYSTEMS, and the pairs system__method that are
# not compiled. A line may continue on the next line, which is then indented.
function(_rattleback_read_catalogue methods systems not_ahead)
  set(file "${RATTLEBACK_CATALOGUE_FILE}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" content)
  string(REGEX REPLACE "\n +" " " content "${content}")
  string(REGEX MATCHALL "\nRB_METHOD[^\n]*" method_lines "${content}")
  string(REGEX MATCHALL "\nRB_SYSTEM[^\n]*" system_lines "${content}")
  list(TRANSFORM method_lines STRIP)
  list(TRANSFORM system_lines STRIP)
  list(FILTER system_lines INCLUDE REGEX "^RB_SYSTEM\\((${RATTLEBACK_SYSTEMS}),")
  if(NOT system_lines)
    message(FATAL_ERROR "rattleback: no system of the catalogue matches RATTLEBACK_SYSTEMS = ${RATTLEBACK_SYSTEMS}")
  endif()
  string(REGEX MATCHALL "\nRB_NOT_AHEAD[^\n]*" pair_lines "${content}")
  set(pairs "")
  foreach(line IN LISTS pair_lines)
    if(NOT line MATCHES "RB_NOT_AHEAD\\(([a-z0-9_]+), ([a-z0-9_ ]+)\\)")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${line}'")
    endif()
    set(method "${CMAKE_MATCH_1}")
    string(REPLACE " " ";" named "${CMAKE_MATCH_2}")
    foreach(system IN LISTS named)
      if(NOT content MATCHES "\nRB_SYSTEM\\(${system}," OR NOT content MATCHES "\nRB_METHOD\\(${method},")
        message(FATAL_ERROR "rattleback: RB_NOT_AHEAD names ${method} with ${system}, which there is not")
      endif()
      list(APPEND pairs "${system}__${method}")
    endforeach()
  endforeach()
  set(${not_ahead} "${pairs}" PARENT_SCOPE)
  set(${methods} "${method_lines}" PARENT_SCOPE)
  set(${systems} "${system_lines}" PARENT_SCOPE)
endfunction()

# Every header of a system and every entry of a method has its line in the catalogue.
function(_rattleback_require_lines)
  cmake_path(GET RATTLEBACK_CATALOGUE_FILE PARENT_PATH dir)
  file(READ "${RATTLEBACK_CATALOGUE_FILE}" content)
  file(GLOB_RECURSE headers RELATIVE "${dir}/systems" CONFIGURE_DEPENDS "${dir}/systems/*.hpp")
  foreach(header IN LISTS headers)
    if(NOT content MATCHES "\nRB_SYSTEM\\([a-z0-9_]+, ${header},")
      message(FATAL_ERROR "rattleback: the system in systems/${header} has no line RB_SYSTEM in ${RATTLEBACK_CATALOGUE_FILE}")
    endif()
  endforeach()
  file(GLOB_RECURSE entries CONFIGURE_DEPENDS "${dir}/methods/*entry.hpp")
  foreach(file IN LISTS entries)
    file(STRINGS "${file}" lines REGEX "^inline constexpr MethodEntry [a-z0-9_]+{")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*MethodEntry ([a-z0-9_]+){.*" "\\1" method "${line}")
      if(NOT content MATCHES "\nRB_METHOD\\(${method},")
        message(FATAL_ERROR "rattleback: the method of the entry '${method}' in ${file} has no line RB_METHOD in "
          "${RATTLEBACK_CATALOGUE_FILE}")
      endif()
    endforeach()
  endforeach()
endfunction()

function(rattleback_add_builtin_catalogue target)
  _rattleback_require_lines()
  _rattleback_read_catalogue(methods systems not_ahead)
  _rattleback_instantiate(${target} BUILTIN METHODS ${methods} SYSTEMS ${systems} NOT_AHEAD ${not_ahead})
endfunction()

function(rattleback_add_system target)
  cmake_parse_arguments(ARG "" "HEADER;TYPE;KIND" "METHODS" ${ARGN})
  foreach(required HEADER TYPE KIND)
    if(NOT ARG_${required})
      message(FATAL_ERROR "rattleback_add_system: ${required} is missing; "
        "usage: rattleback_add_system(target HEADER file TYPE \"my::System<T>\" KIND velocity|holonomic|none [METHODS method ..])")
    endif()
  endforeach()
  get_filename_component(header "${ARG_HEADER}" ABSOLUTE)
  string(MAKE_C_IDENTIFIER "${ARG_TYPE}" identifier)
  string(TOLOWER "user_${identifier}" identifier)
  set(only "")
  if(ARG_METHODS)
    list(JOIN ARG_METHODS " " only)
    set(only ", methods = ${only}")
  endif()
  _rattleback_read_catalogue(methods systems not_ahead)
  _rattleback_instantiate(${target} METHODS ${methods}
    SYSTEMS "RB_SYSTEM(${identifier}, ${header}, ${ARG_KIND}, (${ARG_TYPE})${only})")
endfunction()
