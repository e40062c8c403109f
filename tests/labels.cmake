# Labels of the tests of a program, by expressions on their names. CTest reads this file when it has found the tests, and the
# presets with a sanitizer leave out those with some labels (CMakePresets.json). `tests` is the list of names, `environment` that of
# the variables.

# long: many steps of many kernels, a minute or more under either sanitizer
set(long
    [[Study\.]] [[Plot\.]] [[Coverage\.]] ErrorsOfRepetitions BobenkoSuris LastStep [[Missing\.]] OfMomentaOfGglTheta
    SaysHowManyValuesAreNotFinite _s[45] ReachesItsOrder FiftyKills FullDisk MillionSteps
    "Pair.*(sleigh|isokinetic|contact|_m2|particle|cvt|_exp|_s8)" NeverCountsAnUnconverged AreWhereAShorterStep
    ExactSolutionsAgree CountingDoesNotChange)
# numbers: tests of accuracy and of processes, in which addresses are as in others that stay
set(numbers
    SmallShareOfTheTime DoNotDependOnHowTheyAreRun EnergyErrorsOfAnEnsemble KeepsTheEnergy EnergyStaysNear
    KeepsConstraintsAndMomentumMaps StabilityOfLargeSteps ErrorOfUniformAngles [[Logarithm.Error]] HaveAnOrderAndASpeed
    "(kernel|computing)_tests.*Error" SuspendedWorker TerminatedWorker SixtyFour InAnyOrder [[Parts.*Ranks]] HostThatIsGone
    NumbersOutOfRange OfAFileOfInitial TwoMerges NoFolder BecomesMachineCode CarriesATangentVector HaveErrorsBelow
    "Examples.GiveTheSameBits" [[KernelsOnDemand\.]] [[Citing\.]])
# serial: tests of one thread
set(serial BecomesMachineCode RefusesBad SpeaksOfPositions Leftovers Hostile [[Input\.]] [[Check\.]] Guess)
# optimised: these compile kernels as users do; all others compile them quickly (tests/support/quick-c++). The tests cross, compilers,
# cuda_spills and python_wheel have optimised kernels as well.
set(optimised "GiveTheSameBitsOnEveryBackend/[cdr]" SmallShareOfTheTime)

list(JOIN long "|" long)
list(JOIN numbers "|" numbers)
list(JOIN serial "|" serial)
list(JOIN optimised "|" optimised)
foreach(test IN LISTS tests)
  set(labels "")
  foreach(label IN ITEMS long numbers serial)
    if(test MATCHES "${${label}}")
      list(APPEND labels ${label})
    endif()
  endforeach()
  if(labels)
    set_tests_properties("${test}" PROPERTIES LABELS "${labels}")
  endif()
  set(variables ${environment})
  if(test MATCHES "${optimised}")
    list(FILTER variables EXCLUDE REGEX "^RATTLEBACK_CXX=")
  endif()
  set_tests_properties("${test}" PROPERTIES ENVIRONMENT "${variables}")
endforeach()
