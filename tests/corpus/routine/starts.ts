/** The projects that routine tasks start from. */
import type { Start } from '../task.ts'

export interface StartProject {
  readonly files: Readonly<Record<string, string>>
  readonly before?: string
}

const COMMIT = 'git init -q . && git add -A && git commit -qm "first"'

const PLAIN = {
  'README.md': '# Shop\n\nSells things.\n',
  'notes/monday.txt': 'monday\nmilk\n',
  'notes/tuesday.txt': 'tuesday\neggs\n',
  'data/orders.csv': 'id,item,price\n1,apple,3\n2,pear,4\n3,plum,5\n',
  'data/orders.json': '[{"id":1,"item":"apple"},{"id":2,"item":"pear"}]\n',
  'logs/app.log': 'INFO started\nWARN slow\nERROR broken\nINFO ended\n',
}

const NODE = {
  'package.json': `{
  "name": "shop",
  "version": "1.0.0",
  "type": "module",
  "scripts": { "build": "node build.mjs", "test": "node --test", "start": "node src/main.js" }
}
`,
  'build.mjs': `import { cpSync, mkdirSync } from 'node:fs'
mkdirSync('dist', { recursive: true })
cpSync('src', 'dist', { recursive: true })
console.log('built')
`,
  'src/main.js': `import { total } from './total.js'\nconsole.log(total([1, 2, 3]))\n`,
  'src/total.js': 'export const total = (items) => items.reduce((sum, item) => sum + item, 0)\n',
  'src/types.ts':
    'export interface Item { name: string; price: number }\nexport const free: Item = { name: "air", price: 0 }\n',
  'test/total.test.js': `import assert from 'node:assert'
import { test } from 'node:test'
import { total } from '../src/total.js'
test('adds', () => assert.equal(total([1, 2]), 3))
`,
  '.gitignore': 'node_modules\ndist\n',
}

const PYTHON = {
  'shop/__init__.py': '',
  'shop/__main__.py': 'from shop.total import total\n\nprint(total([1, 2, 3]))\n',
  'shop/total.py': 'def total(items):\n    return sum(items)\n',
  'tests/__init__.py': '',
  'tests/test_total.py': `import unittest

from shop.total import total


class Total(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([1, 2]), 3)
`,
  'settings.json': '{"b": 1, "a": [1, 2]}\n',
  'pyproject.toml': '[project]\nname = "shop"\nversion = "1.0.0"\n',
}

const C = {
  Makefile: `CFLAGS = -O1 -Wall
OBJECTS = main.o total.o

shop: $(OBJECTS)
	$(CC) -o $@ $(OBJECTS)

libshop.a: total.o
	ar rcs $@ total.o

check: shop
	./shop > actual.txt
	cmp actual.txt expected.txt

install: shop
	mkdir -p $(DESTDIR)/bin
	cp shop $(DESTDIR)/bin/shop

clean:
	rm -f $(OBJECTS) shop libshop.a actual.txt

.PHONY: check clean install
`,
  'main.c':
    '#include <stdio.h>\n#include "total.h"\nint main(void) { printf("%d\\n", total(1, 2)); return 0; }\n',
  'total.c': '#include "total.h"\nint total(int a, int b) { return a + b; }\n',
  'total.h': 'int total(int a, int b);\n',
  'expected.txt': '3\n',
}

export const STARTS: Readonly<Record<Start, StartProject>> = {
  plain: { files: PLAIN },
  git: { files: { ...PLAIN, 'src/a.txt': 'a\n', 'src/b.txt': 'b\n' }, before: COMMIT },
  node: { files: NODE, before: COMMIT },
  python: { files: PYTHON, before: COMMIT },
  c: { files: C },
}
