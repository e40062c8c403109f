// Scripts of `rattleback job`: paths and values may have any bytes, and bash, Slurm and terminals read the script.

#include "program.hpp"

namespace {

TEST_F(Program, JobScriptsRunNothingElse) {
  const std::string hostile[] = {"a\nTASK\ntouch hacked\n$(touch hacked)`touch hacked`",
                                 "'; touch hacked; '\\' \"\n#é\r\t", "--wrap=touch hacked\x1b[31m\xff"};
  // Stand-ins, which run what the engines would run.
  write("sbatch", "#!/bin/bash\nexport SLURM_ARRAY_TASK_ID=1\nexec bash\n");
  write("mpirun", "#!/bin/bash\nexec \"$@\"\n");
  write("hq", R"(#!/bin/bash
for word; do [[ $word == --name=* ]] && echo "$word" > name; done
while [[ $1 != -- ]]; do shift; done
shift
export HQ_TASK_ID=1
exec "$@"
)");
  ASSERT_EQ(shell("chmod +x sbatch mpirun hq").exit_code, 0);
  for (const std::string& name : hostile) {
    const fs::path folder = directory / name;
    fs::create_directory(folder);
    std::ofstream(folder / "s.toml") << chaotic;
    setenv("FOLDER", folder.c_str(), 1);
    for (const char* engine : {"--slurm", "--mpi", "--hyperqueue"}) {
      const Outcome script =
          shell(fmt::format("$RB job \"$FOLDER/s.toml\" --parts 1 {} --set time.end=0.2 --set time.sample_every=1 "
                            "--set \"study.name='--pin \\$(touch hacked)'\" -o \"$FOLDER/r.h5\"",
                            engine));
      ASSERT_EQ(script.exit_code, 0) << script.err;
      for (const char c : script.out) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f') || c < 0) << script.out;
      write("job.sh", script.out);
      const Outcome ran = shell("PATH=$PWD:$PATH bash job.sh");
      EXPECT_EQ(ran.exit_code, 0) << script.out << ran.err;
      EXPECT_TRUE(fs::exists(folder / "r.h5")) << engine << script.out << ran.err;
      fs::remove(folder / "r.h5");
      EXPECT_FALSE(fs::exists(directory / "hacked") || fs::exists(folder / "hacked")) << engine << script.out;
    }
    fs::remove_all(folder);
  }
  unsetenv("FOLDER");
  EXPECT_EQ(read_file(directory / "name"), "--name=--pin $(touch hacked)\n");
}

}  // namespace
