# A package for Spack 1.0 or newer. Put it into a repository as packages/rattleback/package.py, with the address of your clone as `git`.
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Rattleback(CMakePackage, CudaPackage):
    """Ensemble integrator for constrained mechanical systems: thousands to billions of trajectories at once, with methods that
    keep constraints, energy, momentum or the symplectic form. Results have the same bits on every machine."""

    git = "https://example.org/rattleback.git"

    license("MIT", checked_by="the rattleback authors")

    version("main", branch="main")

    variant("mpi", default=False, description="The plugin for ranks without a common file system")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("cli11")
    depends_on("eigen@3.4:3")
    depends_on("fmt@9:")
    depends_on("hdf5@1.10.3:+hl~mpi")
    depends_on("nlohmann-json")
    depends_on("openssl")
    depends_on("tomlplusplus")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12.8:", when="+cuda")
    # Figures and reports.
    depends_on("py-h5py", type="run")
    depends_on("py-matplotlib", type="run")

    requires("%gcc@11:", "%clang@14:", policy="one_of", msg="rattleback is written in C++20")

    def cmake_args(self):
        return [
            self.define("RATTLEBACK_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("RATTLEBACK_PYTHON", "OFF"),
            self.define("RATTLEBACK_TESTS", False),
            self.define("RATTLEBACK_BENCHMARKS", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
        ]

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        # Kernels of studies are compiled with the compiler of the program.
        env.set("RATTLEBACK_CXX", self["cxx"].cxx)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def runs_a_study(self):
        program = Executable(self.prefix.bin.rattleback)
        with working_dir("spack-test", create=True):
            program("new", "pendulum", "-o", "pendulum.toml")
            program("run", "pendulum.toml", "-o", "pendulum.h5", "--quiet")
