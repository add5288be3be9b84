/**
 * Reads and removes extended attributes by a program that stays; reads in the format of `getfattr --dump --encoding=hex`.
 * Node has no call for attributes.
 */
import { AnsweringProgram } from './answering-program.ts'
import { findProgram } from './programs.ts'

interface Numbers {
  readonly list: number
  readonly get: number
  readonly remove: number
}

const CALLS: Readonly<Record<string, Numbers>> = {
  x64: { list: 195, get: 192, remove: 198 },
  arm64: { list: 12, get: 9, remove: 15 },
}
/** So often a process starts `getfattr` first: a command for one act is mostly done before more would pay. */
const READS_BEFORE = 4
/** What the kernel calls a filesystem without attributes, and an attribute that is gone again. */
const [NOT_SUPPORTED, NO_DATA] = [95, 61]
/** The kernel's bound on the names of an entry, and on a value. */
const BYTES_MAX = 65_536
/** An answer that would be longer is left to `getfattr`, whose output is taken piece by piece. */
const ANSWER_BYTES_MAX = 1_048_576
const TOO_LONG = '?'

let reads = 0
let program: AnsweringProgram | null = null

interface Read {
  /** As `getfattr` writes it. */
  readonly text: string
  readonly unreadable: readonly string[]
}

/** Returns null if this process reads too seldom, or the program cannot be asked. */
export async function readByProgram(paths: readonly string[]): Promise<Read | null> {
  if (reads++ < READS_BEFORE) return null
  program = program?.isAlive === true ? program : start()
  if (program === null) return null
  const lines = await asked(program, '', paths)
  if (lines === null || lines[0] === TOO_LONG) return null
  const isComplaint = (line: string): boolean => line.startsWith('!')
  return {
    text: lines.filter((line) => !isComplaint(line)).join('\n'),
    unreadable: lines.filter(isComplaint).flatMap((line) => paths[Number(line.slice(1))] ?? []),
  }
}

/** Returns whether the attribute is gone from all paths; false also if no program runs that could do it. */
export async function removeByProgram(name: string, paths: readonly string[]): Promise<boolean> {
  if (program?.isAlive !== true || !/^[\w.]+$/.test(name)) return false
  const lines = await asked(program, name, paths)
  return lines !== null && lines.length === 0
}

/** A request is its length, the attribute to remove or nothing, and the paths. */
function asked(
  from: AnsweringProgram,
  name: string,
  paths: readonly string[],
): Promise<readonly string[] | null> {
  const text = paths.join('\u0000')
  return from.ask(`${text.length} ${name}\n${text}`)
}

function start(): AnsweringProgram | null {
  const [perl, calls] = [findProgram('perl'), CALLS[process.arch]]
  return perl === null || calls === undefined
    ? null
    : new AnsweringProgram(perl, ['-e', source(calls)])
}

/** A complaint is an exclamation mark and the place of the path in the request. */
function source({ list, get, remove }: Numbers): string {
  return `
$| = 1;
sub quoted { my $text = $_[0]; $text =~ s/([\\\\=\\000-\\037\\177])/sprintf '\\\\%03o', ord $1/ge; $text }
while (defined(my $head = <STDIN>)) {
  chomp $head;
  my ($length, $removed) = split / /, $head, 2;
  my $text = '';
  read(STDIN, $text, $length) == $length or exit 1;
  my ($out, $at) = ('', -1);
  for my $path (split /\\0/, $text) {
    $at++;
    if ($removed ne '') { $out .= "!$at\\n" if syscall(${remove}, $path, $removed) != 0; next }
    my $names = "\\0" x ${BYTES_MAX};
    my $size = syscall(${list}, $path, $names, ${BYTES_MAX});
    if ($size < 0) { $out .= "!$at\\n" if $! != ${NOT_SUPPORTED}; next }
    next if $size == 0;
    my $block = '';
    for my $name (split /\\0/, substr($names, 0, $size)) {
      my $value = "\\0" x ${BYTES_MAX};
      my $bytes = syscall(${get}, $path, $name, $value, ${BYTES_MAX});
      if ($bytes < 0) { $out .= "!$at\\n" if $! != ${NO_DATA}; next }
      $block .= quoted($name) . '=0x' . unpack('H*', substr($value, 0, $bytes)) . "\\n";
    }
    $out .= '# file: ' . quoted($path) . "\\n$block\\n" if $block ne '';
    if (length $out > ${ANSWER_BYTES_MAX}) { $out = "${TOO_LONG}\\n"; last }
  }
  print $out, ".\\n";
}
`
}
