/** Work with files, texts and archives. */
import type { RoutineTask } from '../task.ts'

const plain = (
  name: string,
  run: string,
  rest: Omit<RoutineTask, 'id' | 'start' | 'run'> = {},
): RoutineTask => ({ id: `files/${name}`, start: 'plain', run, ...rest })

export const FILES: readonly RoutineTask[] = [
  plain('list', 'ls -la && find . -type f | sort'),
  plain('search', 'grep -rn ERROR logs'),
  plain('count', 'wc -l data/* && du -sh .'),
  plain('head', 'head -n 2 README.md; tail -n 1 logs/app.log'),
  plain('checksums', 'sha256sum data/* | sort'),
  plain('compare', 'cmp notes/monday.txt notes/monday.txt'),
  plain('columns', "awk -F, 'NR > 1 { sum += $3 } END { print sum }' data/orders.csv"),
  plain('scratch', 'f=$(mktemp) && sort data/orders.csv > "$f" && wc -l < "$f" && rm "$f"'),
  plain('write', 'echo "more" >> README.md', { declared: { write: ['README.md'] } }),
  plain('create', 'printf "wednesday\\n" > notes/wednesday.txt', {
    declared: { write: ['notes/*'] },
  }),
  plain('replace', "sed -i 's/milk/bread/' notes/monday.txt", {
    declared: { write: ['notes/monday.txt'] },
  }),
  plain('replace-everywhere', "grep -rl day notes | xargs sed -i 's/day/Day/g'", {
    declared: { write: ['notes/**'] },
  }),
  plain('copy', 'cp -r notes notes-copy', { declared: { write: ['notes-copy/**'] } }),
  plain('move', 'mv notes/monday.txt notes/first.txt', {
    declared: { write: ['notes/first.txt'], delete: ['notes/monday.txt'] },
  }),
  plain('move-folder', 'mv notes archive', {
    declared: { write: ['archive/**'], delete: ['notes/**'] },
  }),
  plain('move-folder-into', 'mkdir -p archive/2026 && mv notes archive/2026/', {
    declared: { write: ['archive/**'], delete: ['notes/**'] },
  }),
  plain('swap-folders', 'mv notes between && mv data notes && mv between data', {
    declared: { write: ['notes/**', 'data/**'], delete: ['notes/**', 'data/**'] },
  }),
  plain('folders', 'mkdir -p a/b/c && touch a/b/c/.keep', { declared: { write: ['a/**'] } }),
  plain('delete', 'rm notes/tuesday.txt', { declared: { delete: ['notes/tuesday.txt'] } }),
  plain('delete-folder', 'rm -r logs', { declared: { delete: ['logs/**'] } }),
  plain('delete-found', "find . -name '*.log' -delete", { declared: { delete: ['**/*.log'] } }),
  plain('mode', 'printf "#!/bin/sh\\n" > run.sh && chmod +x run.sh', {
    declared: { write: ['run.sh'] },
  }),
  plain('link', 'ln -s notes/monday.txt today', { declared: { write: ['today'] } }),
  plain('hard-link', 'ln notes/monday.txt monday-too', {
    declared: { write: ['monday-too'] },
    asks: { code: 'diff.link_split', because: 'what is put in place would be two files, not one' },
  }),
  plain('pack', 'tar czf notes.tar.gz notes', { declared: { write: ['notes.tar.gz'] } }),
  plain('unpack', 'mkdir out && tar xzf notes.tar.gz -C out', {
    before: 'tar czf notes.tar.gz notes',
    declared: { write: ['out/**'] },
  }),
  plain('compress', 'gzip -k logs/app.log', { declared: { write: ['logs/app.log.gz'] } }),
  plain('rotate', 'mv logs/app.log logs/app.log.1 && : > logs/app.log', {
    declared: { write: ['logs/**'], delete: ['logs/**'] },
  }),
  plain('sort', 'sort -t, -k3 -nr -o data/orders.csv data/orders.csv', {
    declared: { write: ['data/orders.csv'] },
  }),
  plain('split', 'split -l 2 data/orders.csv part-', { declared: { write: ['part-*'] } }),
  plain('join', 'cat notes/*.txt > all.txt', { declared: { write: ['all.txt'] } }),
  plain(
    'json-select',
    "node -e \"const fs = require('fs'); fs.writeFileSync('items.json', JSON.stringify(JSON.parse(fs.readFileSync('data/orders.json')).map((o) => o.item)))\"",
    { declared: { write: ['items.json'] } },
  ),
  plain('convert', "tr -d '\\r' < README.md > unix.md && mv unix.md README.md", {
    before: "printf '# Shop\\r\\n' > README.md",
    declared: { write: ['README.md'] },
  }),
  plain('patch-made', 'diff -u notes/monday.txt notes/tuesday.txt > days.patch || true', {
    declared: { write: ['days.patch'] },
  }),
  plain('report', "{ echo '# Report'; date -u -d @0; wc -l data/*; } > report.md", {
    declared: { write: ['report.md'] },
  }),
  plain('environment-example', 'cp .env.example .env', {
    before: 'echo KEY= > .env.example',
    declared: { write: ['.env'] },
    asks: { code: 'effect.deferred_execution', because: 'shells, editors and composers load .env' },
  }),
  plain('environment-edit', "sed -i 's/KEY=.*/KEY=2/' .env", {
    before: 'echo KEY=1 > .env',
    declared: { write: ['.env'] },
    asks: { code: 'effect.deferred_execution', because: 'shells, editors and composers load .env' },
  }),
  plain('delete-many', 'rm -r tmp', {
    before: 'mkdir tmp && for i in $(seq 30); do echo $i > tmp/$i; done',
    declared: { delete: ['tmp/**'] },
    asks: { code: 'confirm.law', because: 'more than 20 files go' },
  }),
  plain('add-many', 'mkdir many && for i in $(seq 400); do echo $i > many/$i; done', {
    declared: { write: ['many/**'] },
  }),
]
