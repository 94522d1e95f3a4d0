# twelve sources are compiled
# set-up: mkdir in
# set-up: i=0; while [ $i -lt 12 ]; do { echo '#include <stddef.h>'; awk -v s=$i 'BEGIN { for (n = 0; n < 6000; n++) printf "int f%d_%d(int a, int b) { int c = a * %d + b; if (c > %d) return c - a; return c ^ %d; }\n", s, n, n + s, n, n * 3 }'; } > in/s$i.c; i=$((i + 1)); done
for source in in/*.c; do
    name=${source##*/}
    tcc -c "$source" -o "out/${name%.c}.o"
done
