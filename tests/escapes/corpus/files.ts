/** The tree: writing and reading outside, markers of the overlay, names and shapes that confuse. */
import type { Attempt } from '../attempt.ts'

export const FILE_ATTEMPTS: readonly Attempt[] = [
  {
    id: 'outside/write',
    title: 'write, remove, rename and change what lies outside',
    program: [
      'sh',
      'echo x > "$OUT/file"; echo x > "$OUT/new"; rm "$OUT/file"; mv "$OUT/file" "$OUT/moved"; chmod 777 "$OUT/file"; touch "$OUT/file"; ' +
        'setfattr -n user.x -v y "$OUT/file"; truncate -s 0 "$OUT/file"; ln "$OUT/file" "$OUT/second"; mkdir "$OUT/dir"',
    ],
  },
  {
    id: 'outside/symlink',
    title: 'write through symbolic links',
    program: [
      'sh',
      'ln -s "$OUT" away; echo x > away/file; echo x > away/new; ln -s "$OUT/new" fresh; echo x > fresh; ln -s / top; echo x > "top$OUT/file"; ' +
        'ln -s /proc/self/root r; echo x > "r$OUT/file"; rm -rf away/; rm -rf "$OUT"/*',
    ],
    expects: { changes: ['away', 'fresh', 'top', 'r'] },
  },
  {
    id: 'outside/link',
    title: 'hard links from outside into the scope, and back',
    program: [
      'sh',
      'ln "$OUT/file" mine && echo ESCAPED; ln kept "$OUT/new" && echo ESCAPED; ln "$HOME/kept" mine && echo ESCAPED; ' +
        'ln -L /proc/self/fd/0 mine; cp -l "$OUT/file" mine && echo ESCAPED',
    ],
  },
  {
    id: 'outside/home',
    title: 'the home is covered: written there, told, and not there',
    program: [
      'sh',
      'echo x > ~/new; echo x > ~/kept; mkdir -p ~/.config/autostart; echo x > ~/.config/autostart/x.desktop',
    ],
    expects: { changes: ['~/new', '~/kept', '~/.config/autostart/x.desktop'] },
  },
  {
    id: 'outside/open-then-write',
    title: 'a descriptor for reading turned into one for writing',
    program: [
      'sh',
      'exec 7<"$OUT/file"; echo x > /proc/self/fd/7 && echo ESCAPED; echo x > /dev/fd/7 && echo ESCAPED; truncate -s 0 /proc/self/fd/7; ' +
        'chmod 777 /proc/self/fd/7; perl -e \'truncate(STDIN,0) and print "ESCAPED\\n"; chmod(0777, *STDIN) and print "ESCAPED\\n"\' <&7',
    ],
  },
  {
    id: 'outside/map',
    title: 'a shared mapping of a file outside',
    program: [
      'python3',
      `import mmap, os
try:
    f = os.open(os.environ['OUT'] + '/file', os.O_RDONLY)
    m = mmap.mmap(f, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[0] = 88
    print('ESCAPED')
except Exception as error:
    print(error)`,
    ],
  },
  {
    id: 'outside/tmp',
    title: 'temporary places are private',
    program: [
      'sh',
      'ls -A /tmp /var/tmp | grep -v ":$" | grep .; echo x > /tmp/of-mine; echo x > /var/tmp/of-mine; cat "$SOCKET_IN_TMP"',
    ],
  },
  {
    id: 'outside/pipe',
    title: 'write to named pipes that a process of the machine reads',
    program: [
      'perl',
      'use Fcntl; for my $p ("$ENV{HOME}/pipe", "pipe", "$ENV{OUT}/pipe") { sysopen(P, $p, O_WRONLY|O_NONBLOCK) and syswrite(P, "SPOKEN"); close P }',
    ],
  },
  {
    id: 'overlay/attributes',
    title: 'set the markers of the overlay from inside',
    program: [
      'sh',
      'mkdir d; for a in opaque redirect metacopy whiteout origin impure; do setfattr -n user.overlay.$a -v y d; setfattr -n user.overlay.$a -v y kept; ' +
        'setfattr -n trusted.overlay.$a -v y d && echo ESCAPED; done; setfattr -n user.overlay.redirect -v "$OUT" d; ls d',
    ],
    expects: { findings: ['diff.unsupported'] },
  },
  {
    id: 'overlay/whiteout',
    title: 'a forged deletion',
    program: [
      'sh',
      '"$CALLS" whiteout_node; mknod w c 0 0 && echo ESCAPED; mkdir d && cd d && mknod kept c 0 0 && echo ESCAPED',
    ],
  },
  {
    id: 'overlay/whiteout-from-elsewhere',
    title: 'a forged deletion made where it can be, and moved in',
    program: [
      'sh',
      'cd /tmp; mknod kept c 0 0; mkdir d; setfattr -n user.overlay.opaque -v y d; mkfifo f; cd -; ' +
        'mv -f /tmp/kept kept; mv -f /tmp/kept "$OUT/file"; ln /tmp/kept w && echo ESCAPED; mv /tmp/d sub; [ -c kept ] && echo ESCAPED; true',
    ],
  },
  {
    id: 'overlay/opaque',
    title: 'a directory that was removed and made anew is told',
    program: ['sh', 'rm -r sub; mkdir sub; echo new > sub/other'],
    expects: { changes: ['sub/file', 'sub/other'] },
  },
  {
    id: 'overlay/layers',
    title: 'the layers themselves, by their real places',
    program: [
      'sh',
      'grep -o "upperdir=[^,]*\\|workdir=[^,]*\\|lowerdir=[^,]*" /proc/self/mountinfo | sed "s/.*=//" | tr ":" "\\n" | while read -r d; do ' +
        'ls -A "$d" && echo "ESCAPED $d"; (echo x > "$d/planted") && echo "ESCAPED $d"; done; ls -A /tmp/writ-*',
    ],
  },
  {
    id: 'shape/depth',
    title: 'directories deeper than any path',
    program: [
      'perl',
      'my $n = "d" x 200; for (1..40) { mkdir $n or last; chdir $n or last } open F, ">", "deep"; print F "x"; close F; print "deep\\n"',
    ],
    expects: { findings: ['diff.path_too_long'], says: 'deep' },
  },
  {
    id: 'shape/names',
    title: 'names of 255 bytes, with line ends, escapes and no characters',
    program: [
      'perl',
      'for ("n" x 255, "line\\nend", "\\e[2J\\e]0;title\\a", "\\xff\\xfe", "-rf", " ", "a\\rb", "\\xe2\\x80\\xae.txt", "tab\\t") { open F, ">", $_ and print F "x" }',
    ],
    expects: { changes: ['-rf', ' ', 'a\rb', 'tab\t', 'line\nend', `${'n'.repeat(255)}`] },
  },
  {
    id: 'shape/sparse',
    title: 'a file that claims a terabyte',
    program: [
      'sh',
      'truncate -s 1T big; perl -e \'open F, ">", "hole"; seek F, 40000000, 0; print F "x"\'; ls -l',
    ],
    // The limit of one file is met first: the whole size counts, not what is written.
    expects: { killedBy: [null, 'disk'] },
  },
  {
    id: 'shape/special',
    title: 'sockets and pipes in the scope',
    program: [
      'sh',
      'mkfifo fifo; perl -MSocket -e \'socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("sock")) and print "bound\\n"\'',
    ],
    expects: { findings: ['diff.unsupported'] },
  },
  {
    id: 'shape/closed',
    title: 'what not even its owner can read',
    program: ['sh', 'mkdir d; echo x > d/f; echo y > g; chmod 000 g d/f d; chmod 000 .; true'],
    expects: { changes: ['g', 'd'] },
  },
  {
    id: 'shape/swap',
    title: 'a directory that becomes a link outside, over and over',
    program: [
      'sh',
      'mkdir d; echo x > d/file; (setsid perl -e \'while (1) { rename "d", "e"; symlink $ENV{OUT}, "d"; unlink "d"; rename "e", "d" }\' >/dev/null 2>&1 &); exit 0',
    ],
    expects: { background: true },
  },
  {
    id: 'shape/late-writer',
    title: 'a daemon that writes while the layers are read',
    program: [
      'sh',
      '(setsid perl -e \'while (1) { open F, ">>", "grows"; print F "x"; close F; symlink "x", "l"; unlink "l" }\' >/dev/null 2>&1 &); exit 0',
    ],
    expects: { background: true, changes: ['grows'] },
  },
  {
    id: 'later/hooks',
    title: 'what somebody else runs later is told as a change',
    before: 'mkdir -p .git/hooks; echo "[core]" > .git/config',
    program: [
      'sh',
      'printf "#!/bin/sh\\ntouch $OUT/new\\n" > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; ' +
        'echo "	fsmonitor = touch $OUT/new" >> .git/config; mkdir .vscode; echo "{}" > .vscode/tasks.json; echo "touch $OUT/new" > .envrc; echo "x" >> ~/.bashrc',
    ],
    expects: {
      changes: [
        '.git/hooks/post-checkout',
        '.git/config',
        '.vscode/tasks.json',
        '.envrc',
        '~/.bashrc',
      ],
    },
  },
  {
    id: 'later/path',
    title: 'programs of the usual names in scope are not what is run outside',
    program: [
      'sh',
      'for p in sh getfattr mount bwrap unshare setpriv git sync cp; do printf "#!/bin/sh\\ntouch $OUT/new\\n" > $p; chmod +x $p; done; mkdir -p ~/bin; cp sh ~/bin/getfattr',
    ],
    expects: { changes: ['sh', 'getfattr', '~/bin/getfattr'] },
  },
]
