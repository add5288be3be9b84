/** Reading what is hidden, and reaching listeners outside. */
import type { Attempt } from '../attempt.ts'

const connect = (path: string): string =>
  `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die "socket: $!"; connect(S,sockaddr_un(${path})) or die "connect: $!"; print <S>'`

/** The listener takes connections only: the error EPROTOTYPE means that it was reached. */
const datagram = (make: string): string =>
  `perl -MSocket -MErrno -e '${make} or die "$!"; my $is = send(S,"SPOKEN",0,sockaddr_un($ENV{SOCKET})); ` +
  `print "ESCAPED " if defined $is || $!{EPROTOTYPE}; print "$!"'`

export const SECRET_ATTEMPTS: readonly Attempt[] = [
  {
    id: 'secret/paths',
    title: 'hidden files by every way to their name',
    program: [
      'sh',
      'cat "$HIDDEN/secret" "$HIDDEN/../hidden/secret" "/proc/self/root$HIDDEN/secret" "/proc/self/cwd/../hidden/secret" ../hidden/secret "$STATE/canary" .hidden/secret; ' +
        'ls -A "$HIDDEN" "$STATE" .hidden; ln -s "$HIDDEN/secret" s; cat s; cd "$OUT/../hidden" && cat secret; dd if="$HIDDEN/secret"; grep -r . "$HIDDEN" "$STATE" .hidden',
    ],
  },
  {
    id: 'secret/copies',
    title: 'copies, archives, links and moves of hidden places',
    program: [
      'sh',
      'cp -a "$HIDDEN" a; cp -a .hidden b; tar cf c.tar .hidden "$HIDDEN"; mv .hidden moved; cat moved/secret; ln .hidden/secret d; rm -rf .hidden; ' +
        'mv "$HIDDEN" e; mkdir -p f; cp -al "$OUT/.." f; git init -q .; git add -A .; true',
    ],
  },
  {
    id: 'secret/search',
    title: 'everything that this user can read',
    program: [
      'sh',
      'grep -rsl hunter2 "$OUT/.." --exclude=calls 2>/dev/null | sed "s/^/ESCAPED /" | head -5',
    ],
    caps: { cpuMs: 20_000 },
  },
  {
    id: 'secret/environment',
    title: 'the environment of who opened the sandbox',
    program: ['sh', 'env; set; cat /proc/self/environ /proc/1/environ; true'],
  },
  {
    id: 'secret/inherited',
    title: 'descriptors that the opener had',
    program: [
      'sh',
      'ls -l /proc/self/fd /proc/1/fd; for n in 3 4 5 6 7 8 9; do eval "cat <&$n"; done; for n in 40 41 42 251; do cat /proc/self/fd/$n /proc/1/fd/$n; ls /proc/self/fd/$n/opt && echo ESCAPED; done',
    ],
  },
  {
    id: 'secret/users',
    title: 'passwords, keys and homes of the machine’s users',
    program: [
      'sh',
      // An ordinary user may read of homes what their owners let everybody read.
      '[ "$(id -u)" = 0 ] && homes="$(echo ~root/.ssh/* ~root/.bashrc ~root/.profile ~writ-test/.profile /var/lib/dpkg/lock)"; ' +
        'for f in /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/*_key $homes; do head -c 1 "$f" 2>/dev/null | grep -q . && echo "ESCAPED $f"; done',
    ],
  },
  {
    id: 'socket/pathname',
    title: 'a unix socket through the read-only tree',
    program: ['sh', connect('$ENV{SOCKET}')],
  },
  {
    id: 'socket/none',
    title: 'the same without unix sockets at all',
    program: ['sh', connect('$ENV{SOCKET}')],
    sockets: 'none',
  },
  {
    id: 'socket/symlink',
    title: 'a unix socket by links and other names',
    program: [
      'sh',
      `ln -s "$SOCKET" s; ${connect('"s"')}; ${connect('"/proc/self/root$ENV{SOCKET}"')}; ` +
        `${connect('"/proc/1/root$ENV{SOCKET}"')}; cd "$(dirname "$SOCKET")" && ${connect('"socket"')}`,
    ],
  },
  {
    id: 'socket/in-scope',
    title: 'a socket of the machine that lies in the scope and at home',
    listens: true,
    program: [
      'sh',
      `${connect('"socket"')}; ${connect('"$ENV{HOME}/socket"')}; mv socket other; ${connect('"other"')}`,
    ],
  },
  {
    id: 'socket/datagram',
    title: 'datagrams to a socket of the machine',
    program: ['sh', datagram('socket(S,AF_UNIX,SOCK_DGRAM,0)')],
  },
  {
    id: 'socket/pair',
    title: 'datagrams to sockets of the machine through a pair, which needs no socket of its own',
    sockets: 'none',
    program: ['sh', datagram('socketpair(S,T,AF_UNIX,SOCK_DGRAM,0)')],
  },
  {
    id: 'socket/services',
    title: 'sockets of services: docker, system bus, agents, X',
    program: [
      'sh',
      'for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/containerd/containerd.sock /run/systemd/private /run/user/*/bus ' +
        '/tmp/.X11-unix/X0 /tmp/ssh-*/agent* /var/run/postgresql/.s.PGSQL.5432 /run/nscd/socket /run/snapd.socket; do [ -S "$s" ] && echo "ESCAPED $s"; done; ' +
        'find / \\( -path /proc -o -path /sys \\) -prune -o -type s -print 2>/dev/null | head -50 | while read -r s; do S="$s" ' +
        `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un($ENV{S})) and print "ESCAPED $ENV{S}\\n"'; done`,
    ],
    caps: { cpuMs: 20_000 },
  },
  {
    id: 'network/loopback',
    title: 'the machine’s own loopback',
    program: [
      'sh',
      `for h in 127.0.0.1 0.0.0.0 $(hostname -I 2>/dev/null); do HOST=$h perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); ` +
        `connect(S,sockaddr_in($ENV{PORT},inet_aton($ENV{HOST}))) and print <S>'; done; ` +
        `perl -MSocket -e 'socket(S,AF_INET6,SOCK_STREAM,0); connect(S,pack_sockaddr_in6($ENV{PORT},inet_pton(AF_INET6,"::ffff:127.0.0.1"))) and print <S>'`,
    ],
  },
  {
    id: 'network/outside',
    title: 'anything beyond the machine',
    program: [
      'python3',
      `import socket
for address in (('1.1.1.1', 53), ('8.8.8.8', 443), ('169.254.169.254', 80), ('10.0.0.1', 80)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, kind); s.settimeout(1)
        try:
            s.connect(address); s.send(b'SPOKEN'); print('ESCAPED', address)
        except OSError as error: print(error)`,
    ],
  },
  {
    id: 'network/interfaces',
    title: 'interfaces and their configuration',
    program: [
      'node',
      `const names = Object.keys(require('os').networkInterfaces()).filter((name) => name !== 'lo')
if (names.length > 0) console.log('ESCAPED', names)
require('net').connect(Number(process.env.PORT), '127.0.0.1').on('data', (bytes) => console.log(String(bytes))).on('error', (error) => console.log(error.code))`,
    ],
    caps: { processes: 200, memoryMb: 2048 },
  },
]
