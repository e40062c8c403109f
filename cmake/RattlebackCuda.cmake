# The CUDA kernels that the build compiles ahead: a translation unit for every system of kernels/rattleback/catalogue.def with
# every method of its kind.

# CMake 3.25 does not know the C++20 flag of current CUDA toolkits.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

set(RATTLEBACK_CATALOGUE_FILE "${CMAKE_CURRENT_SOURCE_DIR}/kernels/rattleback/catalogue.def")
set(RATTLEBACK_SYSTEMS ".*" CACHE STRING "Systems to compile for CUDA: a regular expression of their identifiers")
set(RATTLEBACK_KERNELS ".*" CACHE STRING "Methods of these systems to compile for CUDA: a regular expression of SYSTEM__METHOD")

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

# Adds the kernels of the catalogue to a target, and the function add_cuda_pairs, which registers the kernels.
function(rattleback_add_cuda_kernels target)
  _rattleback_read_catalogue(method_lines systems not_ahead)
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/rattleback-catalogue/${target}")
  set(declarations "")
  set(registrations "")
  set(methods "")
  foreach(line IN LISTS method_lines)
    if(NOT line MATCHES "^RB_METHOD\\(([a-z0-9_]+), ([^,]+), ([a-z ]+), \\((.*)\\)(, ([a-z0-9_:]+( on groups)? = .*))?\\)$")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${line}'")
    endif()
    set(method "${CMAKE_MATCH_1}")
    list(APPEND methods "${method}")
    set(${method}_header "rattleback/methods/${CMAKE_MATCH_2}")
    string(REPLACE " " ";" ${method}_kinds "${CMAKE_MATCH_3}")
    set(step "${CMAKE_MATCH_4}")
    _rattleback_combinations("${method}" "${CMAKE_MATCH_6}")
    set(${method}_loops "${method}")  # the method whose loops this method runs
    if(step MATCHES "^as ([a-z0-9_]+)$")
      set(${method}_loops "${CMAKE_MATCH_1}")
      set(step "")
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

  foreach(system_line IN LISTS systems)
    if(NOT system_line MATCHES "^RB_SYSTEM\\(([a-z0-9_]+), ([^,]+), ([a-z]+), \\((.*)\\)\\)$")
      message(FATAL_ERROR "rattleback: cannot read the catalogue line '${system_line}'")
    endif()
    set(system "${CMAKE_MATCH_1}")
    set(header "rattleback/systems/${CMAKE_MATCH_2}")
    set(kind "${CMAKE_MATCH_3}")
    set(type "${CMAKE_MATCH_4}")
    # The system gives the name, because a template template argument is mangled by name, even if the template is local to a
    # file.
    set(alias "namespace rattleback::generated {\ntemplate <class T>\nusing System_${system} = ${type};\n}\n")
    foreach(method IN LISTS methods)
      set(loops "${${method}_loops}")
      if(NOT kind IN_LIST ${method}_kinds OR "${system}__${method}" IN_LIST not_ahead OR
         NOT "${system}__${loops}" MATCHES "^(${RATTLEBACK_KERNELS})$")
        continue()
      endif()
      string(REPLACE "_" "-" method_name "${method}")
      set(symbol "${system}__${loops}__cuda")
      string(APPEND registrations "  catalogue.add(\"${type}\", \"${method_name}\", generated::${symbol});\n")
      if(NOT loops STREQUAL method)
        continue()
      endif()
      list(LENGTH ${method}_names count)

      # On R^n, options that matter only on groups are compiled once.
      set(steps "${${method}_steps}")
      set(table "")
      foreach(name on_rn key IN ZIP_LISTS ${method}_names ${method}_on_rn ${method}_keys)
        string(REGEX REPLACE "^0,? ?" "" key "${key}")
        if(NOT name STREQUAL on_rn)
          string(APPEND steps "using On_${system}_${name} = std::conditional_t<on_group<System_${system}<double>>, ${name}, ${on_rn}>;\n")
          set(name "On_${system}_${name}")
        endif()
        string(APPEND table "    compiled_cuda_pair<System_${system}, ${name}>({${key}}),\n")
      endforeach()
      file(GENERATE OUTPUT "${dir}/${symbol}.cu" CONTENT "#define RATTLEBACK_ISA cuda
#include \"rattleback/loop/instantiate.cuh\"
#include \"${header}\"
#include \"${${method}_header}\"
${alias}namespace rattleback::generated {
${steps}extern const CompiledCudaPair ${symbol}[${count}];
const CompiledCudaPair ${symbol}[${count}] = {
${table}};
}
")
      target_sources(${target} PRIVATE "${dir}/${symbol}.cu")
      string(APPEND declarations
        "namespace rattleback::generated {\nextern const CompiledCudaPair ${symbol}[${count}];\n}\n")
    endforeach()
  endforeach()

  file(GENERATE OUTPUT "${dir}/registry.cpp" CONTENT "#include \"rattleback/catalogue/builtin/builtin.hpp\"
#include \"rattleback/catalogue/catalogue.hpp\"
${declarations}
namespace rattleback {
void add_cuda_pairs([[maybe_unused]] Catalogue& catalogue) {
${registrations}}
}
")
  target_sources(${target} PRIVATE "${dir}/registry.cpp")
  set_source_files_properties("${dir}/registry.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
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
endfunction()
