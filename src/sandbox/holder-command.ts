/**
 * The command line of a holder, up to the shell that starts bubblewraps. One interpreter makes the
 * namespaces, joins the groups and mounts everything, by system calls: five programs that do the same
 * one after another take three times as long, and are only started where it is not installed.
 *
 * Said on the socket of the holder, by either. U: waits for its maps, T: the memory filesystem is there,
 * M: the overlays are, E: one bubblewrap has ended. The first one starts by itself, since it is needed
 * whatever the command is.
 */

import { findProgram, type ProgramPath, quote, quoteAll, requireProgram } from '../machine/index.ts'
import { FD } from './bubble.ts'
import type { Furnishing } from './furnishing.ts'
import { MAY_FAIL, VIEW } from './mount-lines.ts'
import { type Architecture, ownNumber } from './syscalls.ts'

export interface HolderPlan {
  /** The directory with fstab and run script; no blanks or quotes in its name. */
  readonly directory: string
  /** Options of the memory filesystem at `t`, or null when nothing lies in memory. */
  readonly memory: string | null
  /** Files of control groups through which the holder joins them, before anything else. */
  readonly doors: readonly string[]
  /** Root's: every owner is known inside. */
  readonly fullMap: boolean
  /** Inherited file descriptors that have to be closed first. */
  readonly strayDescriptors: readonly number[]
  /** One more socket, for the command inside. */
  readonly hasChannel: boolean
  /** Directories whose attributes are looked at before anything lies over them. */
  readonly attributesOf: readonly string[]
  /** What is made in the directory, and below where layers lie; only the interpreter does that. */
  readonly furnishings: readonly Furnishing[]
  readonly uppers: readonly Upper[]
  readonly makers: Makers
}

/** A directory where layers lie: in the memory filesystem, or on a disk. */
export interface Upper {
  readonly name: string
  readonly mode: number
  /** Null for the holder's own. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
}

/** Who makes namespaces and mounts: one interpreter, or a program for each. */
export type Makers = 'one' | 'many'

/** The file that lists what was found of attributes. */
export const CARRIERS = 'carriers'

/** The file that lists the parts of the machine that no overlay could cover. */
export const UNSEEN = 'unseen'
const VIEW_OPTIONS = 'size=4m,nr_inodes=16k,mode=700'

type Words = readonly [ProgramPath, ...string[]]

export function holderCommand(plan: HolderPlan): Words {
  return plan.makers === 'one' ? oneProgram(requireProgram('perl'), plan) : manyPrograms(plan)
}

/** The interpreter where it is installed. */
export function findMakers(): Makers {
  return findProgram('perl') === null ? 'many' : 'one'
}

/**
 * Arguments: the directory, options of the memory filesystem, whether maps are waited for, the shell and
 * its script; then doors, descriptors, directories to look at, furnishings by three words and directories
 * for layers, each list after its length.
 */
function oneProgram(perl: ProgramPath, plan: HolderPlan): Words {
  const uppers = plan.uppers.map(
    ({ name, mode, owner }) => `${name} ${mode} ${owner?.uid ?? ''} ${owner?.gid ?? ''}`,
  )
  const furniture = plan.furnishings.flatMap(furnishingWords)
  const lists = [plan.doors, plan.strayDescriptors, plan.attributesOf, furniture, uppers]
  return [
    perl,
    '-e',
    program(process.arch as Architecture),
    ...[plan.directory, plan.memory ?? '', plan.fullMap ? '1' : ''],
    ...[requireProgram('sh'), runLoop(plan)],
    ...lists.flatMap((list) => [String(list.length), ...list.map(String)]),
  ]
}

function furnishingWords(each: Furnishing): readonly string[] {
  if (each.kind === 'directory') return ['d', each.name, '']
  return each.kind === 'link' ? ['l', each.name, each.target] : ['f', each.name, String(each.mode)]
}

/**
 * Strings that a call reads are variables: the interpreter refuses constants there. What is mounted
 * unwritable is remounted, as the kernel wants it, with flags that may be locked on what it shows.
 */
function program(architecture: Architecture): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
$^F = 255;
my ($dir, $memory, $waits, $sh, $loop) = splice @ARGV, 0, 5;
sub list { my $count = shift @ARGV; splice @ARGV, 0, $count }
my @doors = list(); my @stray = list(); my @roots = list(); my @things = list(); my @uppers = list();
my ($none, $top, $source) = ('none', '/', 'writ');
sub fail { print STDERR "$_[0]: $!\\n"; exit 1 }
sub put { my $f; open($f, '>', $_[0]) && defined syswrite($f, $_[1]) && close $f or fail("$_[2]: $_[0]") }
open(my $control, '+<&=', ${FD.holder}) or fail('control');
sub say_ { syswrite($control, "$_[0]\\n") or exit 1 }
sub hear { my $c; do { sysread($control, $c, 1) or exit 1 } until $c eq "\\n" }
sub mounted {
  my ($from, $at, $type, $flags, $data) = @_;
  ${call('mount')}, $from, $at, $type, $flags, $data) == 0 or fail("mount: $at");
}
${call('close')}, $_ + 0) for @stray;
my ($uid, $gid) = ($> + 0, $) + 0);
${call('unshare')}, 0x10020000) == 0 or fail('unshare: unshare failed');
if ($waits) { say_('U'); hear() }
else {
  put('/proc/self/setgroups', 'deny', 'unshare');
  put('/proc/self/uid_map', "0 $uid 1", 'unshare');
  put('/proc/self/gid_map', "0 $gid 1", 'unshare');
}
${call('prctl')}, 1, 9, 0, 0, 0) == 0 or fail('setpriv: prctl failed');
mounted($none, $top, $none, 0x44000, $none);
put($_, '0', 'group') for @doors;
mounted($source, "$dir/${VIEW}", my $small = 'tmpfs', 0, my $size = '${VIEW_OPTIONS}');
while (my ($kind, $name, $rest) = splice @things, 0, 3) {
  my $path = "$dir/$name";
  if ($kind eq 'd') { mkdir $path and chmod 0755, $path or fail("directory: $path") }
  elsif ($kind eq 'l') { symlink $rest, $path or fail("link: $path") }
  else { put($path, '', 'file'); chmod $rest, $path or fail("file: $path") }
}
mounted($source, "$dir/t", my $tmpfs = 'tmpfs', 0, $memory) if $memory ne '';
for (@uppers) {
  my ($name, $mode, $owner, $group) = split / /;
  my $path = "$dir/t/$name";
  mkdir $path or fail("upper: $path");
  if (defined $group) { chown $owner, $group, $path or fail("upper: $path") }
  chmod $mode, $path or fail("upper: $path");
}
say_('T');
my $found = '';
for my $root (@roots) {
  my $names = "\\0" x 65536;
  my $length = ${call('llistxattr')}, $root, $names, 65536);
  $! == 95 or fail("attributes: $root") if $length < 0;
  my $is = grep { /^user\\.overlay\\./ } split /\\0/, substr($names, 0, $length < 0 ? 0 : $length);
  $found .= "# file: $root\\n" if $is;
}
put("$dir/${CARRIERS}", $found, 'attributes') if @roots;
hear();
exit 1 if $found ne '';
my $unseen = '';
open(my $lines, '<', "$dir/fstab") or fail('fstab');
while (my $line = <$lines>) {
  my ($from, $at, $type, $options) = split / /, $line;
  $at =~ s/\\\\([0-7]{3})/chr oct $1/ge;
  my ($flags, $mayFail, @data) = (0, 0);
  for (split /,/, $options) {
    if ($_ eq 'ro') { $flags |= 1 }
    elsif ($_ eq 'bind') { $flags |= 0x1000 }
    elsif ($_ eq 'rbind') { $flags |= 0x5000 }
    elsif ($_ eq '${MAY_FAIL}') { $mayFail = 1 }
    else { push @data, $_ }
  }
  my $data = join ',', @data;
  if ($mayFail) { $unseen .= "$at\\n" if ${call('mount')}, $from, $at, $type, $flags, $data) != 0 }
  else { mounted($from, $at, $type, $flags, $data) }
  mounted($none, $at, $none, 0x102f, $none) if ($flags & 0x1001) == 0x1001;
}
close $lines;
put("$dir/${UNSEEN}", $unseen, 'view') if $unseen ne '';
exec $sh, '-c', $loop or fail('sh');
`
}

/**
 * With the full map, programs start without capabilities until it is written: so a shell waits for the
 * map first, and what it becomes has them.
 */
function manyPrograms(plan: HolderPlan): Words {
  const { fullMap, strayDescriptors } = plan
  const shell = [requireProgram('sh'), '-c', `${mountScript(plan)}\n${runLoop(plan)}`]
  const dying = [requireProgram('setpriv'), '--pdeathsig', 'KILL', ...shell]
  const unshare = requireProgram('unshare')
  const wait = `echo U >&${FD.holder}; read -r map <&${FD.holder} && exec "$@"`
  const inside: Words = fullMap
    ? [unshare, '-U', '-m', requireProgram('sh'), '-c', wait, 'writ', ...dying]
    : [unshare, '-U', '-m', '-r', ...dying]
  if (strayDescriptors.length === 0) return inside
  const closing = strayDescriptors.map((descriptor) => `exec ${descriptor}<&-`).join(';')
  return [requireProgram('bash'), '-c', `${closing};exec "$@"`, 'writ', ...inside]
}

function mountScript({ directory, memory, doors, attributesOf }: HolderPlan): string {
  const mount = requireProgram('mount')
  const carriers = `${directory}/${CARRIERS}`
  return [
    ...doors.map((door) => `echo 0 >${quote(door)} || exit 90`),
    `${mount} -t tmpfs -o ${VIEW_OPTIONS} writ ${directory}/${VIEW} || exit 91`,
    ...(memory === null ? [] : [`${mount} -t tmpfs -o ${memory} writ ${directory}/t || exit 91`]),
    `echo T >&${FD.holder}`,
    ...(attributesOf.length === 0 ? [] : attributeLines(attributesOf, carriers)),
    `read -r line <&${FD.holder} || exit`,
    // Nothing is laid over a root that carries such attributes.
    `[ ! -s ${carriers} ] || exit 94`,
    `${mount} -a -T ${directory}/fstab || exit 92`,
  ].join('\n')
}

/** Status 1 is a directory without attributes at all, on a filesystem that has none. */
function attributeLines(paths: readonly string[], carriers: string): readonly string[] {
  const words = ['--absolute-names', '-h', '-m', '^user\\.overlay\\.', '--', ...paths]
  return [
    `${requireProgram('getfattr')} ${quoteAll(words)} >${carriers} 2>/dev/null`,
    '[ $? -le 1 ] || { echo "attributes cannot be read" >&2; exit 93; }',
  ]
}

function runLoop({ directory }: HolderPlan): string {
  return [
    `echo M >&${FD.holder}`,
    `while :; do`,
    `. ${directory}/run`,
    `echo "E$?" >&${FD.holder}`,
    `read -r line <&${FD.holder} || exit`,
    'done',
  ].join('\n')
}
