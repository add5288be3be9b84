/** Work on a Python project. */
import type { RoutineTask } from '../task.ts'

const python = (
  name: string,
  run: string,
  rest: Omit<RoutineTask, 'id' | 'start' | 'run'> = {},
): RoutineTask => ({ id: `python/${name}`, start: 'python', run, ...rest })

const INTERPRETER = {
  code: 'effect.deferred_execution',
  because: 'editors start the interpreter of an environment by themselves',
}

export const PYTHON: readonly RoutineTask[] = [
  python('run', 'python3 -m shop'),
  python('tests', 'python3 -m unittest -q'),
  python('discover', 'python3 -m unittest discover -s tests -t .'),
  python('json-print', 'python3 -m json.tool settings.json'),
  python('syntax', 'python3 -m py_compile shop/total.py'),
  python('compile-all', 'python3 -m compileall -q shop'),
  python('tabs', 'python3 -m tabnanny shop'),
  python(
    'trees',
    'python3 -c "import ast; print(ast.dump(ast.parse(open(\'shop/total.py\').read())))"',
  ),
  python(
    'rename-package',
    "python3 -c \"import os, pathlib; os.rename('shop', 'store'); [p.write_text(p.read_text().replace('shop', 'store')) for p in [*pathlib.Path('store').glob('*.py'), *pathlib.Path('tests').glob('*.py')]]\" && python3 -B -m store",
    { declared: { write: ['store/**', 'tests/*'], delete: ['shop/**'] } },
  ),
  python('profile', 'python3 -m cProfile -s time -m shop > profile.txt', {
    declared: { write: ['profile.txt'] },
  }),
  python('json-format', 'python3 -m json.tool --indent 2 settings.json settings.json', {
    declared: { write: ['settings.json'] },
  }),
  python('venv', 'python3 -m venv --without-pip .venv', {
    declared: { write: ['.venv/**'] },
    asks: INTERPRETER,
  }),
  python('venv-run', '.venv/bin/python -m shop', { before: 'python3 -m venv --without-pip .venv' }),
  python('venv-again', 'rm -rf .venv && python3 -m venv --without-pip .venv', {
    before: 'python3 -m venv --without-pip .venv',
    declared: { write: ['.venv/**'], delete: ['.venv/**'] },
  }),
  python('zip', 'python3 -m zipfile -c shop.zip shop', { declared: { write: ['shop.zip'] } }),
  python('zipapp', 'python3 -m zipapp shop -o shop.pyz', {
    declared: { write: ['shop.pyz'] },
  }),
  python('unzip', 'python3 -m zipfile -e shop.zip unpacked', {
    before: 'python3 -m zipfile -c shop.zip shop',
    declared: { write: ['unpacked/**'] },
  }),
  python(
    'sqlite-create',
    "python3 -c \"import sqlite3; db = sqlite3.connect('shop.db'); db.execute('create table t (a)'); db.execute('insert into t values (1)'); db.commit()\"",
    { declared: { write: ['shop.db'] } },
  ),
  python(
    'sqlite-query',
    "python3 -c \"import sqlite3; print(sqlite3.connect('shop.db').execute('select 1').fetchall())\"",
    {
      before:
        "python3 -c \"import sqlite3; sqlite3.connect('shop.db').execute('create table t (a)')\"",
    },
  ),
  python(
    'sqlite-migrate',
    "python3 -c \"import sqlite3; db = sqlite3.connect('shop.db'); db.execute('alter table t add column b'); db.commit()\"",
    {
      before:
        "python3 -c \"import sqlite3; sqlite3.connect('shop.db').execute('create table t (a)')\"",
      declared: { write: ['shop.db'] },
    },
  ),
  python(
    'format',
    "python3 -c \"import pathlib; [p.write_text(p.read_text().rstrip() + '\\n\\n') for p in pathlib.Path('shop').glob('*.py')]\"",
    { declared: { write: ['shop/*.py'] } },
  ),
  python('generate', 'python3 generate.py', {
    before:
      'printf \'import pathlib\\npathlib.Path("shop/names.py").write_text("NAMES = []\\\\n")\\n\' > generate.py',
    declared: { write: ['shop/names.py'] },
  }),
  python('html-docs', 'python3 -m pydoc -w shop.total', {
    declared: { write: ['shop.total.html'] },
  }),
  python('convert-csv', 'python3 convert.py', {
    before: `printf 'a,b\\n1,2\\n' > in.csv && cat > convert.py <<'PY'
import csv, json
json.dump(list(csv.DictReader(open("in.csv"))), open("out.json", "w"))
PY`,
    declared: { write: ['out.json'] },
  }),
  python(
    'processes',
    'python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"',
  ),
  python(
    'temporary-files',
    'python3 -c "import tempfile; print(tempfile.NamedTemporaryFile().name)"',
  ),
  python('image', 'python3 image.py', {
    before: `cat > image.py <<'PY'
import struct, zlib
rows = b"".join(b"\\0" + bytes([x % 256] * 3) for x in range(8))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 8, 8, 2, 0, 0, 0))
open("gradient.png", "wb").write(png + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY`,
    declared: { write: ['gradient.png'] },
  }),
]
