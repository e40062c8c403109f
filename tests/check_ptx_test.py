#!/usr/bin/env python3
"""cmake/check_ptx on kernels that keep to their source, and on such that do not.  check_ptx_test.py NVCC"""
import pathlib, subprocess, sys, tempfile, unittest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "cmake/check_ptx"
GOOD = "__global__ void k(double* x) { x[0] = x[1] * x[2] + x[3] / x[4] + sqrt(x[5]) + __fma_rn(x[6], x[7], x[8]); }"
NVCC = "nvcc"


def kernel(line):
    return "__global__ void k(double* x, float* y) { " + line + " }"


class CheckPtx(unittest.TestCase):
    def compile(self, code, *flags):
        """Exit code, messages, and whether there is an object."""
        with tempfile.TemporaryDirectory() as folder:
            source, output = pathlib.Path(folder, "k.cu"), pathlib.Path(folder, "k.o")
            source.write_text(code)
            done = subprocess.run([CHECK, NVCC, "-arch=compute_90", *flags, "-c", source, "-o", output], text=True,
                                  stderr=subprocess.PIPE, check=False)
            return done.returncode, done.stderr, output.exists()

    def refuses(self, what, code, *flags):
        code, messages, made = self.compile(code, *flags)
        self.assertEqual((code, made), (1, False), messages)
        self.assertIn(what, messages)

    def test_takes_what_rounds(self):
        self.assertEqual(self.compile(GOOD, "--fmad=false"), (0, "", True))

    def test_refuses_contraction(self):
        self.refuses("add.f64 does not round to nearest", GOOD)
        self.refuses("add.f64 does not round to nearest", GOOD, "--fmad=true")

    def test_refuses_approximations(self):
        self.refuses("rcp.approx.ftz.f64 approximates",
                     kernel('asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x[0]) : "d"(x[1]));'), "--fmad=false")
        self.refuses("approximates", kernel("y[0] = y[1] / y[2];"), "--fmad=false", "--prec-div=false")
        self.refuses("approximates", kernel("y[0] = __sinf(y[1]);"), "--fmad=false")

    def test_refuses_flushing_and_other_roundings(self):
        self.refuses("flushes to zero", kernel("y[0] = y[1] * y[2];"), "--fmad=false", "--ftz=true")
        self.refuses("mul.rz.f64 does not round to nearest", kernel("x[0] = __dmul_rz(x[1], x[2]);"), "--fmad=false")

    def test_guarded_instructions_are_seen(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write("  add.rn.f64 %fd1, %fd2, %fd3;\n  @%p1 mul.f64 %fd1, %fd2, %fd3;\n  add.s64 %r1, %r2, %r3;\n")
            file.flush()
            done = subprocess.run([CHECK, file.name], text=True, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mul.f64 does not", done.stderr)
        self.assertNotIn("add", done.stderr)

    def test_errors_of_the_compiler_pass_through(self):
        self.assertEqual(self.compile("nonsense", "--fmad=false")[::2], (2, False))


if __name__ == "__main__":
    NVCC = sys.argv.pop(1)
    unittest.main()
