#pragma once
// ../python/problems.py for the peers in C++: the same problems, command line and answer.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

/// The ODE of a problem with constraints: its multipliers eliminated.
template <class Problem>
struct Constrained {
  template <class T>
  static void ode(const T* y, T* derivative) {
    constexpr int n = Problem::dimension / 2;
    T multipliers[Problem::multipliers];
    Problem::multiply(y, multipliers);
    for (int i = 0; i < n; ++i) derivative[i] = y[i + n];
    Problem::accelerate(y, multipliers, derivative + n);
  }
};

/// Chaotic nonholonomic system, m = 3, constraint vx + z.vz = 0, with the multiplier from its derivative in time.
struct Chaotic : Constrained<Chaotic> {
  static constexpr int dimension = 14;
  static constexpr double last_theta = std::numbers::pi / 2;

  /// Potential forces on (x, y, z); the constraint is mu v = 0 with mu = (1, 0, z).
  template <class T>
  HOST_DEVICE static void force(const T* y, T* f) {
    f[0] = -y[0];
    for (int i = 1; i < 4; ++i) f[i] = -y[i] * (1 + y[i + 3] * y[i + 3]);
    f[4] = -y[4] * (1 + y[1] * y[1] + y[5] * y[5]);
    f[5] = -y[5] * (1 + y[2] * y[2] + y[4] * y[4]);
    f[6] = -y[6] * (1 + y[3] * y[3]);
  }
  static constexpr int multipliers = 1;
  template <class T>
  static void multiply(const T* y, T* multiplier) {
    T f[7];
    force(y, f);
    T phi = f[0], gram = T(1);
    for (int i = 4; i < 7; ++i) {
      phi += y[i] * f[i] + y[i + 7] * y[i + 7];
      gram += y[i] * y[i];
    }
    multiplier[0] = -phi / gram;
  }
  template <class T>
  static void accelerate(const T* y, const T* multiplier, T* a) {
    force(y, a);
    a[0] += multiplier[0];
    for (int i = 4; i < 7; ++i) a[i] += multiplier[0] * y[i];
  }
  static void velocity_constraint(const double* y, double* r) {
    r[0] = y[7] + y[4] * y[11] + y[5] * y[12] + y[6] * y[13];
  }
  static double energy(const double* y) {
    double sum = y[4] * y[4] * y[5] * y[5];
    for (int i = 0; i < 14; ++i) sum += y[i] * y[i];
    for (int i = 1; i < 4; ++i) sum += y[i] * y[i] * y[i + 3] * y[i + 3];
    return 0.5 * sum;
  }
  static void initial(double theta, double* y) {
    const double start[14] = {std::cos(theta), 0.6, 0.4, 0.2, 1, 1, 1, 0, std::sin(theta), 0, 0, 0, 0, 0};
    std::memcpy(y, start, sizeof start);
  }
};

struct HenonHeiles {
  static constexpr int dimension = 4;
  static constexpr double last_theta = 2 * std::numbers::pi;

  template <class T>
  static void force(const T* y, T* f) {
    f[0] = -y[0] - 2 * y[0] * y[1];
    f[1] = y[1] * y[1] - y[1] - y[0] * y[0];
  }
  template <class T>
  static void ode(const T* y, T* derivative) {
    derivative[0] = y[2];
    derivative[1] = y[3];
    force(y, derivative + 2);
  }
  static double energy(const double* y) {
    return 0.5 * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]) + y[0] * y[0] * y[1] - y[1] * y[1] * y[1] / 3;
  }
  static void initial(double theta, double* y) {
    const double start[4] = {0.15 * std::cos(theta), 0.15 * std::sin(theta), 0.42 * std::cos(3 * theta),
                             0.42 * std::sin(3 * theta)};
    std::memcpy(y, start, sizeof start);
  }
};

/// Two rods of length 1 with masses 1 at their ends, g = 1; the angles from the downward vertical.
struct DoublePendulum {
  static constexpr int dimension = 4;
  static constexpr double last_theta = 2 * std::numbers::pi;

  template <class T>
  static void ode(const T* y, T* derivative) {
    const T s = std::sin(y[0] - y[1]), c = std::cos(y[0] - y[1]);
    const T first = -2 * std::sin(y[0]) - s * y[3] * y[3], second = -std::sin(y[1]) + s * y[2] * y[2];
    const T inverse = 1 / (2 - c * c);
    derivative[0] = y[2];
    derivative[1] = y[3];
    derivative[2] = inverse * (first - c * second);
    derivative[3] = inverse * (2 * second - c * first);
  }
  static double energy(const double* y) {
    return y[2] * y[2] + std::cos(y[0] - y[1]) * y[2] * y[3] + 0.5 * y[3] * y[3] - 2 * std::cos(y[0]) - std::cos(y[1]);
  }
  static void initial(double theta, double* y) {
    const double start[4] = {0.8 * std::cos(theta), 0.8 * std::sin(theta), 0, 0};
    std::memcpy(y, start, sizeof start);
  }
};

/// The same in space, positions in R^6, with the rods x and d of length 1: x" = l1 x - l2 d - g, d" = 2 l2 d - l1 x.
struct DoubleSphericalPendulum : Constrained<DoubleSphericalPendulum> {
  static constexpr int dimension = 12, multipliers = 2;
  static constexpr double last_theta = 2 * std::numbers::pi;

  template <class T>
  static T dot(const T* a, const T* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  /// From the second derivatives of the constraints.
  template <class T>
  static void multiply(const T* y, T* l) {
    const T d[3] = {y[3] - y[0], y[4] - y[1], y[5] - y[2]}, w[3] = {y[9] - y[6], y[10] - y[7], y[11] - y[8]};
    const T xx = dot(y, y), xd = dot(y, d), dd = dot(d, d), first = y[2] - dot(y + 6, y + 6), second = -dot(w, w);
    const T inverse = 1 / (2 * xx * dd - xd * xd);
    l[0] = inverse * (2 * dd * first + xd * second);
    l[1] = inverse * (xd * first + xx * second);
  }
  template <class T>
  static void accelerate(const T* y, const T* l, T* a) {
    for (int i = 0; i < 3; ++i) {
      const T d = y[i + 3] - y[i];
      a[i] = l[0] * y[i] - l[1] * d - (i == 2);
      a[i + 3] = l[1] * d - (i == 2);
    }
  }
  static void velocity_constraint(const double* y, double* r) {
    const double d[3] = {y[3] - y[0], y[4] - y[1], y[5] - y[2]}, w[3] = {y[9] - y[6], y[10] - y[7], y[11] - y[8]};
    r[0] = dot(y, y + 6);
    r[1] = dot(d, w);
  }
  static double energy(const double* y) { return 0.5 * (dot(y + 6, y + 6) + dot(y + 9, y + 9)) + y[2] + y[5]; }
  static void initial(double theta, double* y) {
    const double a = 0.5 * std::cos(theta), b = 0.5 * std::sin(theta),
                 start[12] = {0.8, 0, -0.6, 0.8, 0.8, -1.2, 0, a, 0, b, a, 0};
    std::memcpy(y, start, sizeof start);
  }
};

/// Three equal masses in the plane that attract each other, G = 1: x1, x2, x3, y1, y2, y3 and their velocities. The figure eight, whose
/// first body is moved along a small circle.
struct ThreeBodies {
  static constexpr int dimension = 12;
  static constexpr double last_theta = 2 * std::numbers::pi;

  template <class T>
  static void force(const T* y, T* f) {
    for (int i = 0; i < 6; ++i) f[i] = T(0);
    for (int i = 0; i < 2; ++i)
      for (int j = i + 1; j < 3; ++j) {
        const T a = y[j] - y[i], b = y[j + 3] - y[i + 3], square = a * a + b * b, c = 1 / (square * std::sqrt(square));
        f[i] += c * a, f[j] -= c * a, f[i + 3] += c * b, f[j + 3] -= c * b;
      }
  }
  template <class T>
  static void ode(const T* y, T* derivative) {
    for (int i = 0; i < 6; ++i) derivative[i] = y[i + 6];
    force(y, derivative + 6);
  }
  static double energy(const double* y) {
    double sum = 0;
    for (int i = 6; i < 12; ++i) sum += 0.5 * y[i] * y[i];
    for (int i = 0; i < 2; ++i)
      for (int j = i + 1; j < 3; ++j) sum -= 1 / std::hypot(y[j] - y[i], y[j + 3] - y[i + 3]);
    return sum;
  }
  static void initial(double theta, double* y) {
    const double
        a = 0.97000436,
        b = -0.24308753, u = 0.466203685, v = 0.43236573,
        start[12] = {
            a + 0.001 * std::cos(theta), -a, 0, b + 0.001 * std::sin(theta), -b, 0, u, u, -2 * u, v, v, -2 * v};
    std::memcpy(y, start, sizeof start);
  }
};

/// Calls `action` with the problem of this name. Returns false for an unknown name.
template <class Action>
bool with_problem(const std::string& name, const Action& action) {
  if (name == "chaotic") return action(Chaotic()), true;
  if (name == "henon-heiles") return action(HenonHeiles()), true;
  if (name == "double-pendulum") return action(DoublePendulum()), true;
  if (name == "double-spherical-pendulum") return action(DoubleSphericalPendulum()), true;
  if (name == "three-bodies") return action(ThreeBodies()), true;
  return false;
}

struct Task {
  std::string system = "chaotic", method, device = "cpu";
  double step = 0, tolerance = 0, end = 1000;  // step or tolerance; the other is 0
  int count = 64;
  long steps = 0;
};

inline Task parse(int argc, char** argv, const char* device = "cpu") {
  Task task;
  task.device = device;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--system")
      task.system = value;
    else if (key == "--method")
      task.method = value;
    else if (key == "--device")
      task.device = value;
    else if (key == "--step")
      task.step = std::stod(value);
    else if (key == "--tolerance")
      task.tolerance = std::stod(value);
    else if (key == "--end")
      task.end = std::stod(value);
    else if (key == "--count")
      task.count = std::stoi(value);
    else
      argc = 0;
  }
  if (argc % 2 == 0 || (task.step > 0) == (task.tolerance > 0)) {
    std::fprintf(stderr,
                 "usage: %s --system NAME --method NAME (--step H | --tolerance TOL) "
                 "[--end 1000] [--count 64]\n",
                 argv[0]);
    std::exit(2);
  }
  if (task.step > 0) task.steps = std::lround(task.end / task.step);
  return task;
}

/// The ensemble, one trajectory after the other.
template <class Problem>
std::vector<double> ensemble(int count) {
  std::vector<double> y(static_cast<std::size_t>(count) * Problem::dimension);
  for (int k = 0; k < count; ++k)
    Problem::initial(Problem::last_theta / (count > 1 ? count - 1 : 1) * k, &y[k * Problem::dimension]);
  return y;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Prints the outcome; steps is the total over the ensemble, or negative where the peer does not say.
template <class Problem>
void answer(const Task& task, const char* peer, const std::string& version, const std::vector<double>& final,
            double seconds, long steps) {
  constexpr int rows = Problem::dimension;
  const std::vector<double> initial = ensemble<Problem>(task.count);
  double error = 0;
  for (int k = 0; k < task.count; ++k) {
    const double change = std::abs(Problem::energy(&final[k * rows]) - Problem::energy(&initial[k * rows]));
    if (!(change <= error)) error = change;  // NaN too
  }
  const auto number = [](double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return std::isfinite(x) ? std::string(text) : std::string("null");
  };
  std::string state;
  for (int i = 0; i < rows; ++i) state += (i ? ", " : "") + number(final[i]);
  if (task.steps > 0) steps = task.steps * task.count;
  std::printf(
      "{\"peer\": \"%s\", \"version\": \"%s\", \"system\": \"%s\", \"method\": \"%s\", \"device\": \"%s\", \"step\": "
      "%s, "
      "\"tolerance\": %s, \"end\": %s, \"trajectories\": %d, \"seconds\": %s, \"steps\": %s, \"energy_error\": %s, "
      "\"final\": [%s]}\n",
      peer, version.c_str(), task.system.c_str(), task.method.c_str(), task.device.c_str(),
      task.step > 0 ? number(task.step).c_str() : "null", task.tolerance > 0 ? number(task.tolerance).c_str() : "null",
      number(task.end).c_str(), task.count, number(seconds).c_str(), steps < 0 ? "null" : std::to_string(steps).c_str(),
      number(error).c_str(), state.c_str());
}

/// Blocks of `lanes` trajectories side by side, lane index fastest: a right-hand side over such a block is SIMD code.
template <class Problem, int lanes>
void stacked_ode(const double* y, double* derivative) {
  for (int k = 0; k < lanes; ++k) {
    double column[Problem::dimension], change[Problem::dimension];
    for (int i = 0; i < Problem::dimension; ++i) column[i] = y[i * lanes + k];
    Problem::ode(column, change);
    for (int i = 0; i < Problem::dimension; ++i) derivative[i * lanes + k] = change[i];
  }
}

[[noreturn]] inline void unknown(const Task& task) {
  std::fprintf(stderr, "unknown system or method: %s, %s\n", task.system.c_str(), task.method.c_str());
  std::exit(2);
}
