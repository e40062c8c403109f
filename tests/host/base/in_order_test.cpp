// Pieces of work that one thread does in order.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rattleback/base/in_order.hpp"

using namespace rattleback;

namespace {

TEST(InOrder, DoesOneAfterTheOtherAndTakesOnlySoManyAtATime) {
  constexpr int most = 3;
  std::vector<int> done;
  std::atomic<int> given = 0, ended = 0, waiting = 0;
  InOrder work(most);
  for (int i = 0; i < 50; ++i) {
    work.add([&, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      done.push_back(i);
      ++ended;
    });
    waiting = std::max(waiting.load(), ++given - ended);
  }
  work.finish();
  ASSERT_EQ(done.size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_LE(waiting, most);
  EXPECT_GT(waiting, 1);
}

TEST(InOrder, LeavesUndoneWhatComesAfterAFailure) {
  std::vector<int> done;
  InOrder work(8);
  std::atomic<bool> go = false;
  work.add([&] {
    go.wait(false);
    done.push_back(0);
  });
  work.add([] { throw std::runtime_error("full"); });
  work.add([&] { done.push_back(2); });
  go = true;
  go.notify_all();
  EXPECT_THROW(work.finish(), std::runtime_error);
  EXPECT_THROW(work.add([&] { done.push_back(3); }), std::runtime_error);
  EXPECT_THROW(work.finish(), std::runtime_error);
  EXPECT_EQ(done, std::vector<int>{0});
}

TEST(InOrder, TicksWhileItWaits) {
  std::atomic<bool> go = false;
  const auto self = std::this_thread::get_id();
  InOrder work(1, [&] {
    EXPECT_EQ(std::this_thread::get_id(), self);
    go = true;
    go.notify_all();
  });
  for (int i = 0; i < 2; ++i) {
    work.add([&] { go.wait(false); });
    work.finish();  // only a tick ends the wait
    go = false;
  }
}

TEST(InOrder, AnyThreadWaitsForAConditionThatPiecesBringAbout) {
  std::atomic<int> done = 0;
  std::atomic<bool> go = false;
  InOrder work(8);
  for (int i = 0; i < 3; ++i) work.add([&] { ++done; });
  work.add([&] { go.wait(false); });
  work.add([] { throw std::runtime_error("full"); });
  std::thread other([&] { work.wait([&] { return done == 3; }); });
  other.join();  // while a piece is being done
  go = true;
  go.notify_all();
  EXPECT_THROW(work.wait([] { return false; }), std::runtime_error);
}

}  // namespace
