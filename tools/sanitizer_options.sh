# Sourced by the scripts that run sanitized programs. Sets what the sanitizers report and how.
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1

# The leak checker stops the program's threads with ptrace, which some containers forbid. Only then it is left out, aloud.
probe="$(mktemp -d)"
echo 'int main() {}' | clang++-14 -x c++ -fsanitize=address -o "$probe/probe" -
if ! ASAN_OPTIONS=detect_leaks=1 "$probe/probe" >/dev/null 2>&1; then
  echo "sanitizers: this machine does not allow the leak checker; running without it" >&2
  ASAN_OPTIONS+=:detect_leaks=0
fi
rm -r "$probe"
