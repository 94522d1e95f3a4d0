# numbers of 5 MB are sorted with 1 MiB of memory and files for what does not fit
# set-up: mkdir in
# set-up: awk 'BEGIN { s = 1; while (n++ < 600000) { s = (s * 16807) % 2147483647; print s % 100000000 } }' > in/numbers
sort -S 1M -T out -n in/numbers -o out/sorted
