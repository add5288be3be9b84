/**
 * Renaming a directory of a lower layer, in the language of the first process inside. The kernel is
 * asked first, and its answer holds unless that is EXDEV. Then the directory is made one of the upper
 * layer only: all it holds is moved into a new directory, which is put in its place; files by renames,
 * so that who has one open keeps it, directories by the same again. Then the kernel is asked once more,
 * so that every flag means what it means.
 *
 * If a step fails, the earlier ones are taken back, and EXDEV stays the answer.
 *
 * Known limits: others see the states between; who had the directory itself open, or works in it, holds
 * one that is gone, as after a copy.
 */
import { type Architecture, ownNumber } from '../kernel/syscalls.ts'

const STILL_ASKED = 0x40082102
/** Where the times, the owner and the mode lie in `struct statx`. */
const STATX = "'x16 L L L S x2 Q x24 q L x4 x32 q L x12 L L'"

/** An expression whose value takes a call and answers with an error number; 0 for none. */
export function directoryRename(architecture: Architecture): string {
  return `${attributes(architecture)}${moving()}${answering(architecture)}`
}

/** Gives one directory what another has: owner, attributes, mode, times. */
function attributes(architecture: Architecture): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
sub facts {
  my ($path) = @_;
  my $bytes = "\\0" x 256;
  ${call('statx')}, -100, $path, 0x100, 0xfff, $bytes) == 0 or die;
  my %found;
  @found{qw(links uid gid mode inode atime atimeNs mtime mtimeNs major minor)} = unpack ${STATX}, $bytes;
  return \\%found;
}
sub timed {
  my ($path, $from) = @_;
  my $times = pack 'q q q q', @$from{qw(atime atimeNs mtime mtimeNs)};
  ${call('utimensat')}, -100, $path, $times, 0x100) == 0 or die;
}
sub attributes {
  my ($path) = @_;
  my $names = "\\0" x 65536;
  my $length = ${call('llistxattr')}, $path, $names, 65536);
  return {} if $length < 0 && $! == 95;
  die if $length < 0;
  my %found;
  for my $name (split /\\0/, substr $names, 0, $length) {
    my $value = "\\0" x 65536;
    my $size = ${call('lgetxattr')}, $path, $name, $value, 65536);
    die if $size < 0;
    $found{$name} = substr $value, 0, $size;
  }
  return \\%found;
}
sub alike {
  my ($from, $to) = @_;
  my ($want, $have) = (facts($from), facts($to));
  if ($want->{uid} != $have->{uid} || $want->{gid} != $have->{gid}) {
    ${call('fchownat')}, -100, $to, $want->{uid}, $want->{gid}, 0x100) == 0 or die;
  }
  my ($wanted, $had) = (attributes($from), attributes($to));
  for my $name (grep { !exists $wanted->{$_} } keys %$had) {
    ${call('lremovexattr')}, $to, $name) == 0 or die;
  }
  for my $name (keys %$wanted) {
    my $value = $wanted->{$name};
    next if exists $had->{$name} && $had->{$name} eq $value;
    ${call('lsetxattr')}, $to, $name, $value, length $value, 0) == 0 or die;
  }
}
sub finish {
  my ($path, $from) = @_;
  chmod $from->{mode} & 07777, $path or die;
  timed($path, $from);
  die if facts($path)->{mode} != $from->{mode};
}
`
}

/**
 * Names of one file stay that where the layers would part them: the second becomes a link to the first.
 * A directory that its owner may not write to is lent that right meanwhile. What takes a failure back is
 * noted by directory, so that a million files take no memory of a process that no cap counts.
 */
function moving(): string {
  return `
my (@back, %first);
sub moved {
  my ($old, $new) = @_;
  rename2($old, $new) or die;
}
sub restore {
  my ($new, $old) = @_;
  opendir my $entries, $new or return;
  for my $name (grep { $_ ne '.' && $_ ne '..' } readdir $entries) {
    rename2("$new/$name", "$old/$name") or next;
    unlink "$new/$name" if lstat "$new/$name";
  }
}
sub moveFile {
  my ($old, $new) = @_;
  my $found = facts($old);
  return moved($old, $new) if $found->{links} < 2;
  my $key = join ' ', @$found{qw(major minor inode)};
  my $first = $first{$key};
  my $there = defined $first ? facts($first) : undef;
  $first{$key} = $new if !defined $first;
  return moved($old, $new) if !$there || $key eq join ' ', @$there{qw(major minor inode)};
  link $first, $new or die;
  unlink $old or die;
}
sub moveAll {
  my ($old, $new) = @_;
  my $found = facts($old);
  push @back, sub { eval { finish($old, $found) } }, sub { restore($new, $old) };
  chmod 0700 | $found->{mode} & 07777, $old if ($found->{mode} & 0700) != 0700;
  opendir my $entries, $old or die;
  my @names = grep { $_ ne '.' && $_ ne '..' } readdir $entries;
  closedir $entries;
  for my $name (@names) {
    my ($from, $to) = ("$old/$name", "$new/$name");
    lstat $from or die;
    if (!-d _) { moveFile($from, $to); next }
    next if rename2($from, $to);
    die if $! != 18 && $! != 13;
    mkdir $to, 0700 or die;
    push @back, sub { rmdir $to };
    moveAll($from, $to);
    rmdir $from or die;
    push @back, sub { mkdir $from, 0700; eval { alike($to, $from) } };
  }
  alike($old, $new);
  finish($new, $found);
}
sub lift {
  my ($parent, $name) = @_;
  my ($old, $count) = ("$parent/$name", 0);
  my $new = "$parent/.writ-renaming-0";
  until (mkdir $new, 0700) {
    die if $! != 17 || $count++ > 99;
    $new = "$parent/.writ-renaming-$count";
  }
  push @back, sub { rmdir $new };
  moveAll($old, $new);
  rename2($new, $old) or die;
}
`
}

/** A directory in which something else is mounted stays: what is hidden inside would be left behind. */
function answering(architecture: Architecture): string {
  const call = (name: Parameters<typeof ownNumber>[1]): string =>
    `syscall(${ownNumber(architecture, name)}`
  return `
sub rights {
  open my $file, '<', "/proc/$_[0]/status" or return '';
  my @lines = grep { /^(Uid|Gid|Groups|CapEff):/ } <$file>;
  return join '', @lines;
}
sub holdsMount {
  my ($path) = @_;
  open my $file, '<', '/proc/self/mountinfo' or return 1;
  while (my $line = <$file>) {
    my $point = (split / /, $line)[4];
    $point =~ s/\\\\([0-7]{3})/chr oct $1/ge;
    return 1 if index("$point/", "$path/") == 0;
  }
  return 0;
}
sub parted {
  my ($path) = @_;
  $path =~ s{(?<=[^/])/+\\z}{};
  my ($parent, $name) = $path =~ m{^(.*/)([^/]+)\\z}s or die;
  my $fd = ${call('openat')}, -100, $parent, 0x280000, 0);
  die if $fd < 0;
  return ($fd, $name);
}
sub isFilled {
  opendir my $entries, $_[0] or return 0;
  return scalar grep { $_ ne '.' && $_ ne '..' } readdir $entries;
}
my $own = rights('self');
sub {
  my ($id, $tid, $old, $new, $flags, $listener) = @_;
  return if $own eq '' || rights($tid) ne $own;
  my $asked = pack 'Q', $id;
  return if ${call('ioctl')}, $listener, ${STILL_ASKED}, $asked) != 0;
  return 0 if rename2($old, $new, $flags);
  return $! + 0 if $! != 18;
  my @open;
  my $is = eval {
    my @parts = map { [parted($_)] } $old, $new;
    @open = map { $_->[0] } @parts;
    my @places = map { "/proc/self/fd/$_->[0]" } @parts;
    my @devices = map { my $found = facts("$_/."); "$found->{major} $found->{minor}" } @places;
    die if $devices[0] ne $devices[1];
    my $target = "$places[1]/$parts[1][1]";
    my @moving = $flags & 2 ? (0, 1) : 0;
    holdsMount(readlink($places[$_]) . "/$parts[$_][1]") and die for @moving;
    return 39 if !($flags & 2) && isFilled($target);
    for my $index (@moving) {
      my ($parent, $name) = ($places[$index], $parts[$index][1]);
      next if !(lstat("$parent/$name") && -d _);
      (@back, %first) = ();
      lift($parent, $name);
      @back = ();
    }
    return rename2("$places[0]/$parts[0][1]", $target, $flags) ? 0 : $! + 0;
  };
  if (!defined $is) { $_->() for reverse splice @back }
  ${call('close')}, $_) for @open;
  return defined $is ? $is : 18;
}
`
}
