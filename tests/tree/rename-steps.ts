/**
 * Random renames and what goes with them, for a program that does them by system calls and says how each
 * went. The same lines are given to it in a plain directory and inside a sandbox: what it says has to
 * be the same, errors included.
 */
import { Dice, NAMES } from './random-tree.ts'

const RENAMEAT2 = process.arch === 'x64' ? 316 : 276
const [NOREPLACE, EXCHANGE] = [1, 2]

/**
 * One step a line: what, two paths in hexadecimal, a number. Says the error number, or 0. A step that
 * would go through a link is left out: nothing outside of the tree may ever be touched.
 */
export const STEPPER = `
sub leaves {
  my ($path, $isFollowed) = @_;
  my @names = split m{/+}, $path;
  my $last = $isFollowed ? $#names : $#names - 1;
  return $path =~ m{^/} || grep { -l join '/', @names[0 .. $_] } 0 .. $last;
}
sub written { open my $file, '>', $_[0] or return 0; print $file $_[0]; 1 }
while (my $line = <STDIN>) {
  chomp $line;
  my ($do, $one, $other, $number) = split / /, $line;
  ($one, $other) = map { pack 'H*', $_ } $one, $other;
  my $isFollowed = $do eq 'mode' || $do eq 'write';
  if (leaves($one, $isFollowed) || leaves($other, 0)) { print "$do through a link\n"; next }
  $! = 0;
  my $is = $do eq 'rename' ? rename $one, $other
    : $do eq 'flags' ? syscall(${RENAMEAT2}, -100, $one, -100, $other, $number + 0) == 0
    : $do eq 'mkdir' ? mkdir $one
    : $do eq 'rmdir' ? rmdir $one
    : $do eq 'unlink' ? unlink $one
    : $do eq 'mode' ? chmod $number, $one
    : written($one);
  print "$do ", ($is ? 0 : $! + 0), "\\n";
}
`

/** The paths are those that the tree has, with one character a byte. */
export function renameSteps(
  seed: number,
  tree: { readonly directories: readonly string[]; readonly others: readonly string[] },
  count: number,
): readonly string[] {
  const dice = new Dice(seed)
  const directories = [...tree.directories]
  const known = [...tree.directories, ...tree.others]
  const of = (list: readonly string[]): string => list[dice.below(list.length)] ?? 'a'
  const made = (): string => {
    const parent = dice.chance(70) ? `${of(directories)}/` : ''
    const path = `${parent}${dice.pick(NAMES)}`
    directories.push(path)
    known.push(path)
    return path
  }
  return Array.from({ length: count }, () => {
    const roll = dice.below(100)
    const from = dice.chance(80) ? of(directories) : of(known)
    const to = dice.chance(60) ? made() : of(known)
    if (roll < 60) return line('rename', from, dice.chance(10) ? `${to}/` : to)
    if (roll < 68) return line('flags', from, to, NOREPLACE)
    if (roll < 76) return line('flags', from, of(known), EXCHANGE)
    if (roll < 82) return line('mkdir', made())
    if (roll < 86) return line('rmdir', of(known))
    if (roll < 90) return line('unlink', of(known))
    if (roll < 94) return line('mode', of(directories), '', dice.pick([0o755, 0o555, 0o700]))
    return line('write', dice.chance(50) ? made() : of(known))
  })
}

function line(what: string, one: string, other = '', number = 0): string {
  const hex = (path: string): string => Buffer.from(path, 'latin1').toString('hex')
  return `${what} ${hex(one)} ${hex(other)} ${number}`
}
