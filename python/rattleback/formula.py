"""Formulas as text."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

Formula = Union[str, float, Any]  #: a text in the language of formulas, a number, or a SymPy expression


def _printer() -> Any:
    from sympy import Rational
    from sympy.core.function import AppliedUndef
    from sympy.printing.precedence import PRECEDENCE, precedence
    from sympy.printing.str import StrPrinter

    names = {"Abs": "abs", "log": "log", "atan2": "atan2", "Max": "max", "Min": "min", "sign": "sign"}
    known = ("sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
    names.update({name: name for name in known})

    class Printer(StrPrinter):  # type: ignore[misc]
        """Prints in the language of formulas: powers are x^2; a function x(t) of the time is x, and its derivative v_x."""

        def _print_Pow(self, expr: Any, rational: bool = False) -> str:
            base, exponent = expr.as_base_exp()
            if exponent == Rational(1, 2):
                return f"sqrt({self._print(base)})"
            if exponent == Rational(-1, 2):
                return f"1/sqrt({self._print(base)})" if not expr.is_Atom else self._print(expr)
            if exponent == -1:
                return f"1/{self.parenthesize(base, PRECEDENCE['Mul'] + 1)}"
            power = self.parenthesize(exponent, PRECEDENCE["Atom"])
            return f"{self.parenthesize(base, PRECEDENCE['Pow'] + 1)}^{power}"

        def _print_Mul(self, expr: Any) -> str:
            numerator, denominator = expr.as_numer_denom()
            if denominator != 1:
                top = self.parenthesize(numerator, PRECEDENCE["Mul"])
                return f"{top}/{self.parenthesize(denominator, PRECEDENCE['Mul'] + 1)}"
            coefficient, rest = expr.as_coeff_Mul()
            if coefficient == -1:
                return f"-{self.parenthesize(rest, PRECEDENCE['Mul'])}"
            return "*".join(self.parenthesize(factor, precedence(expr)) for factor in expr.as_ordered_factors())

        def _print_Float(self, expr: Any) -> str:
            return repr(float(expr))

        def _print_Exp1(self, expr: Any) -> str:
            return "exp(1)"

        def _print_Indexed(self, expr: Any) -> str:
            return f"{expr.base}[{', '.join(self._print(index) for index in expr.indices)}]"

        def _print_Sum(self, expr: Any) -> str:
            text = str(self._print(expr.function))
            for index, first, last in expr.limits:
                text = f"sum({index}, {self._print(first)}, {self._print(last)}, {text})"
            return text

        def _print_Function(self, expr: Any) -> str:
            if isinstance(expr, AppliedUndef) and [str(argument) for argument in expr.args] == ["t"]:
                return str(expr.func.__name__)
            name = names.get(expr.func.__name__)
            if name is None:
                raise TypeError(f"formulas have no function {expr.func.__name__} (there are: {', '.join(sorted(names))}); "
                                "rewrite the expression")
            return f"{name}({', '.join(str(self._print(argument)) for argument in expr.args)})"

        _print_Abs = _print_Max = _print_Min = _print_Function

        def _print_Derivative(self, expr: Any) -> str:
            if not isinstance(expr.expr, AppliedUndef) or [str(variable) for variable in expr.variables] != ["t"]:
                raise TypeError(f"formulas have no derivative {expr}; the derivative of a coordinate x(t) by t is its velocity v_x")
            return f"v_{self._print(expr.expr)}"

        def emptyPrinter(self, expr: Any) -> str:
            raise TypeError(f"formulas have no {type(expr).__name__} ({expr}); rewrite the expression")

        _print_Piecewise = _print_Integral = _print_Relational = emptyPrinter

    return Printer()


def text_of_formula(formula: Formula, key: str = "") -> str:
    """Returns a formula as text. Raises TypeError for an expression that formulas cannot write."""
    if isinstance(formula, str):
        return formula
    if isinstance(formula, (bool, np.bool_)):
        raise TypeError(f"{key}: a formula is a text, a number or a SymPy expression (got {formula!r})")
    if isinstance(formula, (int, float, np.integer, np.floating)):
        return repr(float(formula)) if isinstance(formula, (float, np.floating)) else str(int(formula))
    if hasattr(formula, "free_symbols"):
        import sympy

        try:
            return str(_printer().doprint(sympy.sympify(formula)))
        except TypeError as error:
            raise TypeError(f"{key}: {error}") from None
    raise TypeError(f"{key}: a formula is a text, a number or a SymPy expression (got a {type(formula).__name__})")
