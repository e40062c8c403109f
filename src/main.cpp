#include "launch.hpp"

int main(int argc, char** argv) { return rattleback::program::run_command_line(argc, argv); }
