# numbers of 27 MB are sorted with 8 MiB of memory and files for what does not fit
# set-up: mkdir in
# set-up: awk 'BEGIN { s = 1; while (n++ < 3000000) { s = (s * 16807) % 2147483647; print s % 100000000 } }' > in/numbers
sort -S 8M -T out -n in/numbers -o out/sorted
