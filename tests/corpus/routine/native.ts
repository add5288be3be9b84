/** Work on a C project. */
import type { RoutineTask } from '../task.ts'

const c = (
  name: string,
  run: string,
  rest: Omit<RoutineTask, 'id' | 'start' | 'run'> = {},
): RoutineTask => ({ id: `c/${name}`, start: 'c', run, ...rest })

const BUILT = 'make -s shop'

export const NATIVE: readonly RoutineTask[] = [
  c('syntax', 'cc -fsyntax-only -Wall main.c total.c'),
  c('dry-run', 'make -n'),
  c('symbols', 'nm shop | head -n 3', { before: BUILT }),
  c('preprocess', 'cc -E main.c | tail -n 2'),
  c('build', 'make', { declared: { write: ['*.o', 'shop'] } }),
  c('build-parallel', 'make -s -j2 shop libshop.a', {
    declared: { write: ['*.o', 'shop', '*.a'] },
  }),
  c('build-nothing', 'make -s shop', { before: BUILT }),
  c('rebuild', 'touch total.c && make -s shop', {
    before: BUILT,
    declared: { write: ['*.o', 'shop'] },
  }),
  c('check', 'make -s check', {
    before: BUILT,
    declared: { write: ['actual.txt'] },
  }),
  c('clean', 'make -s clean', {
    before: BUILT,
    declared: { delete: ['*.o', 'shop', 'libshop.a', 'actual.txt'] },
  }),
  c('install', 'make -s install DESTDIR=stage', {
    before: BUILT,
    declared: { write: ['stage/**'] },
  }),
  c('compile', 'cc -O2 -c total.c -o total.o', { declared: { write: ['total.o'] } }),
  c('link', 'cc main.o total.o -o shop', {
    before: 'cc -c main.c total.c',
    declared: { write: ['shop'] },
  }),
  c('archive', 'ar rcs libtotal.a total.o', {
    before: 'cc -c total.c',
    declared: { write: ['libtotal.a'] },
  }),
  c('shared-library', 'cc -shared -fPIC -o libtotal.so total.c', {
    declared: { write: ['libtotal.so'] },
  }),
  c('strip', 'strip shop', { before: BUILT, declared: { write: ['shop'] } }),
  c('dependencies', 'cc -MM *.c > depend.mk', { declared: { write: ['depend.mk'] } }),
  c('out-of-tree', 'mkdir -p build && cc -o build/shop main.c total.c && build/shop', {
    declared: { write: ['build/**'] },
  }),
]
