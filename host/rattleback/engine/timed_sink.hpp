#pragma once

#include <chrono>
#include <string>

#include "rattleback/results/result.hpp"

namespace rattleback {

/// Passes everything on to another sink, and adds up the time that it takes. One thread writes at a time.
class TimedSink final : public ResultSink {
 public:
  TimedSink(ResultSink& sink, double& seconds) : sink_(sink), seconds_(seconds) {}

  void create(const std::string& path, Type type, const Shape& shape) override {
    timed([&] { sink_.create(path, type, shape); });
  }
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* data) override {
    timed([&] { sink_.write(path, offset, count, data); });
  }
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override {
    timed([&] { sink_.attribute(path, name, value); });
  }
  std::string fingerprint() override {
    std::string digits;
    timed([&] { digits = sink_.fingerprint(); });
    return digits;
  }
  void commit() override {
    timed([&] { sink_.commit(); });
  }

 private:
  template <class Work>
  void timed(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  ResultSink& sink_;
  double& seconds_;
};

}  // namespace rattleback
