#!/bin/sh
# Fails when an object file compiled for one instruction set offers a symbol that the linker may merge with the same one
# from elsewhere: code for every machine could then end up with instructions that some machines lack.
# Usage: simd_symbols_test.sh OBJECT...
found=0
checked=0
for object in "$@"; do
  case "$object" in
    */cpu/*) ;;
    *) continue ;;
  esac
  checked=$((checked + 1))
  symbols=$(nm --defined-only --demangle "$object" | grep ' [WVu] ' | grep -v ' DW.ref.__gxx_personality')
  if [ -n "$symbols" ]; then
    echo "$object:"
    echo "$symbols"
    found=1
  fi
done
if [ "$checked" -eq 0 ]; then
  echo "no object file of an instruction set among the arguments"
  exit 1
fi
exit "$found"
