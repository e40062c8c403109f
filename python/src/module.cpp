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
  static PyObject* const error =
      PyErr_NewExceptionWithDoc("rattleback.Error", "An error of rattleback.", PyExc_Exception, nullptr);
  const auto derived = [](const char* name, const char* text, PyObject* builtin) {
    return PyErr_NewExceptionWithDoc(name, text, nb::make_tuple(nb::borrow(error), nb::borrow(builtin)).ptr(), nullptr);
  };
  static PyObject* const input_error =
      derived("rattleback.InputError", "Bad input: a study, an option, a file or initial states.", PyExc_ValueError);
  static PyObject* const run_error =
      derived("rattleback.RunError", "A fault at run time, such as a full disk or a lost device.", PyExc_RuntimeError);
  module.attr("Error") = nb::borrow(error);
  module.attr("InputError") = nb::borrow(input_error);
  module.attr("RunError") = nb::borrow(run_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Error& fault) {
          PyErr_SetString(fault.kind() == Error::Kind::input ? input_error : run_error,
                          rattleback::python::in_python(fault.what()).c_str());
        }
      },
      nullptr);
  rattleback::python::prepare_calls();
  rattleback::python::bind_study(module);
  rattleback::python::bind_result(module);
  rattleback::python::bind_run(module);
  rattleback::python::bind_measure(module);
  rattleback::python::bind_parts(module);
  rattleback::python::bind_command_line(module);
}
