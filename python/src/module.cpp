// The extension module.

#include "core.hpp"
#include "rattleback/base/error.hpp"

namespace rattleback::python {

Table from_json(const std::string& text) {
  return nb::cast<Table>(nb::object(nb::module_::import_("json").attr("loads")(text)));
}

}  // namespace rattleback::python

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using rattleback::Error;

  module.doc() = "The library of rattleback. The package `rattleback` is the interface for users.";
  // The types live as long as the process.
  static PyObject* const input_error = PyErr_NewExceptionWithDoc(
      "rattleback.InputError", "Bad input: a study, an option, a file or initial states.", PyExc_ValueError, nullptr);
  static PyObject* const run_error = PyErr_NewExceptionWithDoc(
      "rattleback.RunError", "A fault at run time, such as a full disk or a lost device.", PyExc_RuntimeError, nullptr);
  module.attr("InputError") = nb::borrow(input_error);
  module.attr("RunError") = nb::borrow(run_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error& error) {
          PyErr_SetString(error.kind() == Error::Kind::input ? input_error : run_error, error.what());
        }
      },
      nullptr);
  rattleback::python::prepare_calls();
  rattleback::python::bind_study(module);
  rattleback::python::bind_result(module);
  rattleback::python::bind_run(module);
  rattleback::python::bind_measure(module);
  rattleback::python::bind_parts(module);
}
