/**
 * The keeper of a kept sandbox: a small program in Perl next to the holder, in the same namespaces. It
 * does by system calls what needs the rights of the holder: remounts overlays, sets and removes the
 * overlay's own attributes in upper layers, tests leases, looks at processes that keep their user from
 * looking. The holder forks it before it joins control
 * groups, so that no cap and no freezer of the sandbox reaches it. It dies with the holder.
 *
 * A task is one line: a letter, then paths in hex. The answer is one line. A lease is given back at once:
 * the kernel lets who opens the file wait for it, and sends SIGIO.
 */

import { once } from 'node:events'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { faultError } from '../../base/index.ts'
import type { Keeper, KeeperTask, Layer } from '../driver/driver.ts'
import { type Architecture, ownNumber } from '../kernel/syscalls.ts'
import { MERGED } from '../layers/mount-lines.ts'
import { Lines } from '../pipes/lines.ts'

const LETTERS: Readonly<Record<KeeperTask['does'], string>> = {
  mark: 'o',
  unmark: 'O',
  marked: 'q',
  whiteout: 'w',
  origin: 'h',
  strip: 's',
  lease: 'l',
  files: 'f',
  threads: 't',
}

/** So many tasks are sent before their answers are read; more would fill the socket. */
const SENT_MAX = 256

interface Kept {
  readonly holder: { readonly keeper: Duplex | null }
  readonly directory: string
  readonly layers: readonly Layer[]
}

export class HolderKeeper implements Keeper {
  readonly #socket: Duplex
  readonly #lines: Lines
  readonly #mountOf: (layer: Layer) => string
  #last: Promise<unknown> = Promise.resolve()

  constructor(socket: Duplex, mountOf: (layer: Layer) => string) {
    this.#socket = socket
    this.#lines = new Lines(socket)
    this.#mountOf = mountOf
  }

  /** Returns null for a sandbox that has none. */
  static of({ holder, directory, layers }: Kept): Keeper | null {
    if (holder.keeper === null) return null
    const mountOf = (layer: Layer): string => join(directory, `${MERGED}${layers.indexOf(layer)}`)
    return new HolderKeeper(holder.keeper, mountOf)
  }

  async remount(layer: Layer): Promise<void> {
    await this.#send([`r ${hex(Buffer.from(this.#mountOf(layer)))}`])
  }

  async ask(tasks: readonly KeeperTask[]): Promise<readonly string[]> {
    return this.#send(
      tasks.map(({ does, path, other }) =>
        [LETTERS[does], ...[path, ...(other === undefined ? [] : [other])].map(hexOfRaw)].join(' '),
      ),
    )
  }

  /** One caller at a time, because answers carry no names. */
  #send(lines: readonly string[]): Promise<readonly string[]> {
    const next = this.#last.then(() => this.#exchange(lines))
    this.#last = next.catch(() => undefined)
    return next
  }

  async #exchange(lines: readonly string[]): Promise<readonly string[]> {
    const answers: string[] = []
    for (let from = 0; from < lines.length; from += SENT_MAX) {
      const sent = lines.slice(from, from + SENT_MAX)
      if (!this.#socket.write(`${sent.join('\n')}\n`)) await once(this.#socket, 'drain')
      for (const line of sent) {
        const answer = await this.#lines.next()
        if (answer === null) throw faultError('sandbox.closed', '', 'the sandbox is closed')
        if (answer.startsWith('E')) throw refused(line, answer)
        answers.push(answer)
      }
    }
    return answers
  }
}

function hexOfRaw(path: string): string {
  return hex(Buffer.from(path, 'latin1'))
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex')
}

function refused(line: string, answer: string) {
  const [letter = '', path = ''] = line.split(' ')
  const place = Buffer.from(path, 'hex').toString('utf8')
  const message = `the kernel refused to change the view at \`${place}\` (${letter}: ${answer.slice(1)})`
  return faultError('sandbox.failed', place, message)
}

/** The part of the holder's program that becomes the keeper; `fd` is its socket. */
export function keeperProgram(architecture: Architecture, fd: number): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
my $keeper = fork;
defined $keeper or fail('keeper');
if (!$keeper) {
  ${call('prctl')}, 1, 9, 0, 0, 0) == 0 or exit 1;
  exit 1 if getppid() != $holder;
  for my $other (0 .. 2, 4 .. 9) { ${call('close')}, $other) }
  $SIG{IO} = 'IGNORE';
  open(my $tasks, '+<&=', ${fd}) or exit 1;
  my ($opaque, $origin, $yes, $nothing) = ('user.overlay.opaque', 'user.overlay.origin', 'y', 'none');
  sub done { $_[0] == 0 ? '1' : 'E' . ($! + 0) }
  sub marked {
    my $value = "\\0" x 16;
    return ${call('lgetxattr')}, $_[0], $opaque, $value, 16) == 1 && substr($value, 0, 1) eq 'y';
  }
  sub origin {
    my ($upper, $real) = @_;
    my $value = "\\0" x 256;
    my $size = ${call('lgetxattr')}, $upper, $origin, $value, 256);
    return '-' if $size < 0;
    my $handle = pack('L l', 128, 0) . "\\0" x 128;
    my $mount = "\\0" x 4;
    return '!' if ${call('name_to_handle_at')}, -100, $real, $handle, $mount, 0) != 0;
    my ($length, $type) = unpack 'L l', $handle;
    return $size == 21 + $length && substr($value, 21, $length) eq substr($handle, 8, $length) ? '=' : '!';
  }
  sub leased { fcntl($_[0], 1024, $_[1]) or return $! == 11 ? 0 : undef; fcntl($_[0], 1024, 2); 1 }
  sub lease {
    sysopen(my $file, $_[0], 0400000 | 04000 | 02000000) or return 'e';
    my $all = leased($file, 1);
    my $reads = $all ? 1 : leased($file, 0);
    # Perl leaves 0 to 2 open, which were its standard streams: then the file would be in use for ever.
    my $slot = fileno $file;
    close $file;
    ${call('close')}, $slot);
    return 'e' if !defined $all || !defined $reads;
    return $all ? 'f' : $reads ? 'r' : 'w';
  }
  sub text { open(my $file, '<', $_[0]) or return ''; local $/; my $all = <$file>; defined $all ? $all : '' }
  sub inodes {
    my ($at, $info) = @_;
    my @first = stat $at or return;
    my @inodes = $first[1];
    for (my $up = "$at/.."; -d "$at/" && length $up < 1000; $up .= '/..') {
      my @above = stat $up;
      last if !@above || $above[0] != $first[0] || $above[1] == $inodes[-1];
      push @inodes, $above[1];
    }
    push @inodes, map { hex } $info =~ /^inotify wd:\\S+ ino:([0-9a-f]+) /mg;
    return @inodes;
  }
  sub files {
    my ($pid) = @_;
    my $process = ${call('pidfd_open')}, $pid + 0, 0);
    return $! == 3 ? '+' : 'e' if $process < 0;
    my ($slots) = text("/proc/$pid/status") =~ /^FDSize:\\s*(\\d+)/m;
    my ($answer, $left) = ('+', 0);
    for my $slot (0 .. ($slots || 0) - 1) {
      my $copy = ${call('pidfd_getfd')}, $process, $slot, 0);
      if ($copy < 0) { next if $! == 9; $left = 1; last }
      my $target = readlink "/proc/self/fd/$copy";
      my $info = text("/proc/self/fdinfo/$copy");
      my ($flags) = $info =~ /^flags:\\s*([0-7]+)/m;
      if (defined $target && defined $flags) {
        $answer .= " $flags," . unpack('H*', $target) . ',' . join ':', inodes("/proc/self/fd/$copy", $info);
      }
      else { $left = 1 }
      ${call('close')}, $copy);
    }
    ${call('close')}, $process);
    return $left || !$slots ? 'e' : $answer;
  }
  sub threads {
    my ($pid) = @_;
    opendir(my $all, "/proc/$pid/task") or return 'e';
    my $answer = '+';
    for my $thread (grep { /^\\d/ && $_ != $pid } readdir $all) {
      my @same = map { ${call('kcmp')}, $pid + 0, $thread + 0, $_, 0, 0) } 2, 3;
      return 'e' if grep { $_ < 0 } @same;
      $answer .= " $thread" if grep { $_ > 0 } @same;
    }
    return $answer;
  }
  while (my $line = <$tasks>) {
    my ($does, $path, $other) = split / /, $line =~ s/\\n//r;
    $path = pack 'H*', $path;
    $other = pack 'H*', $other if defined $other;
    my $answer = 'E22';
    if ($does eq 'r') { $answer = done(${call('mount')}, $nothing, $path, $nothing, 0x20, 0)) }
    elsif ($does eq 'o') { $answer = done(${call('lsetxattr')}, $path, $opaque, $yes, 1, 0)) }
    elsif ($does eq 'O') { $answer = marked($path) ? done(${call('lremovexattr')}, $path, $opaque)) : '1' }
    elsif ($does eq 'q') { $answer = marked($path) ? 1 : 0 }
    elsif ($does eq 'w') { $answer = done(${call('mknodat')}, -100, $path, 0020000, 0)); $answer = '1' if $answer eq 'E17' }
    elsif ($does eq 'l') { $answer = lease($path) }
    elsif ($does eq 'f') { $answer = files($path) }
    elsif ($does eq 't') { $answer = threads($path) }
    elsif ($does eq 'h') { $answer = origin($path, $other) }
    elsif ($does eq 's') {
      $answer = origin($path, $other);
      if ($answer eq '!') { my $is = done(${call('lremovexattr')}, $path, $origin)); $answer = $is if $is ne '1' }
    }
    syswrite($tasks, "$answer\\n") or exit 0;
  }
  exit 0;
}
${call('close')}, ${fd});
`
}
