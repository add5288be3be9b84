/**
 * Several long-lived processes that change, hold, map, watch and enter entries on command, as a program
 * in Perl: the same program runs in a sandbox and in a plain directory, and both have to answer alike.
 *
 * A command is a line `WORKER<tab>OPERATION<tab>ARGUMENT…`; `x` for the worker means a process of its
 * own for this command. The answer is a line: `ok<tab>…`, or `E` and the error number.
 */
export const WORKERS = 3

const CALLS =
  process.arch === 'x64'
    ? { prctl: 157, mmap: 9, munmap: 11, read: 0, inotify_init1: 294, inotify_add_watch: 254 }
    : { prctl: 167, mmap: 222, munmap: 215, read: 63, inotify_init1: 26, inotify_add_watch: 27 }

/** Its arguments: the root, how many workers. */
export const WORKER_PROGRAM = `
use strict; use Fcntl; use Socket; use IO::Handle;
my ($root, $count) = @ARGV;
umask 022;
my (%held, %map, $watch, @watched);
sub content { my ($p) = @_; open(my $f, '<', $p) or return 'E' . ($! + 0); local $/; my $t = <$f>; $t = '' unless defined $t; unpack 'H*', $t }
sub tree {
  my ($p, $rel, $out) = @_;
  my @s = lstat $p;
  if (!@s) { push @$out, "$rel gone " . ($! + 0); return }
  my $mode = sprintf '%o', $s[2] & 07777;
  if (-l _) { push @$out, "$rel l " . readlink $p }
  elsif (-d _) {
    push @$out, "$rel d $mode";
    if (!opendir my $d, $p) { push @$out, "$rel unread " . ($! + 0) }
    else { for my $n (sort grep { $_ ne '.' && $_ ne '..' } readdir $d) { tree("$p/$n", "$rel/$n", $out) } }
  }
  else { push @$out, "$rel f $mode " . content($p) }
}
sub put { my ($p, $how, $t) = @_; open(my $f, $how, $p) or return 0; defined syswrite $f, $t or return 0; close $f }
sub op {
  my ($op, @a) = @_;
  my $p = defined $a[0] ? ($a[0] =~ m{^\\./} ? $a[0] : "$root/$a[0]") : undef;
  my $q = defined $a[1] ? "$root/$a[1]" : undef;
  my $ok = 0; my $data = '';
  $! = 0;
  if ($op eq 'write') { $ok = put($p, '>', $a[1]) }
  elsif ($op eq 'update') { $ok = put($p, '+<', $a[1]) }
  elsif ($op eq 'append') { $ok = put($p, '>>', $a[1]) }
  elsif ($op eq 'replace') { $ok = put("$p.new", '>', $a[1]) && rename("$p.new", $p) }
  elsif ($op eq 'touch') { $ok = open(my $f, '+<', $p) }
  elsif ($op eq 'rename') { $ok = rename $p, $q }
  elsif ($op eq 'mkdir') { $ok = mkdir $p, 0755 }
  elsif ($op eq 'rmdir') { $ok = rmdir $p }
  elsif ($op eq 'unlink') { $ok = unlink $p }
  elsif ($op eq 'clear') {
    my @all; my $walk; $walk = sub { my $e = shift; if (-d $e && !-l $e) { opendir my $d, $e; $walk->("$e/$_") for grep { !/^\\.\\.?$/ } readdir $d } push @all, $e };
    $walk->($p); $ok = 1;
    for (@all) { ((-d $_ && !-l $_) ? rmdir $_ : unlink $_) or $ok = 0 }
    mkdir $p, 0755 if $ok && $a[1];
  }
  elsif ($op eq 'symlink') { $ok = symlink $a[1], $p }
  elsif ($op eq 'link') { $ok = link $p, $q }
  elsif ($op eq 'chmod') { $ok = chmod oct $a[1], $p }
  elsif ($op eq 'hold') { my $f; $ok = $a[2] eq 'r' ? sysopen($f, $p, O_RDONLY) : sysopen($f, $p, O_RDWR | O_APPEND | ($a[2] eq 'c' ? O_CREAT : 0), 0644); $held{$a[1]} = $f if $ok }
  elsif ($op eq 'put') { my $f = $held{$a[0]}; $ok = defined syswrite $f, $a[1] }
  elsif ($op eq 'get') { my $f = $held{$a[0]}; sysseek $f, 0, 0; my $t = ''; my $n; 1 while $n = sysread $f, $t, 65536, length $t; $ok = 1; $data = unpack 'H*', $t }
  elsif ($op eq 'drop') { my $f = delete $held{$a[0]}; no warnings; closedir $f or close $f; $ok = 1 }
  elsif ($op eq 'holddir') { $ok = opendir my $d, $p; $held{$a[1]} = $d if $ok }
  elsif ($op eq 'map') {
    if (sysopen my $f, $p, O_RDWR) {
      my $at = -s $f ? syscall(${CALLS.mmap}, 0, 4096, 3, 1, fileno $f, 0) : 0;
      $ok = $at > 0; $map{$a[1]} = $at if $ok; $data = '';
    }
  }
  elsif ($op eq 'poke') {
    pipe my $r, my $w; syswrite $w, $a[1]; my $at = $map{$a[0]};
    $ok = syscall(${CALLS.read}, fileno $r, $at, length $a[1]) > 0;
  }
  elsif ($op eq 'unmap') { $ok = syscall(${CALLS.munmap}, delete $map{$a[0]}, 4096) == 0 }
  elsif ($op eq 'watch') {
    $watch = syscall(${CALLS.inotify_init1}, 0x800 | 0x80000) if !defined $watch;
    $ok = syscall(${CALLS.inotify_add_watch}, $watch, $p, 0xfff) >= 0;
  }
  elsif ($op eq 'unwatch') { if (defined $watch) { open my $f, '<&=', $watch; close $f } undef $watch; $ok = 1 }
  elsif ($op eq 'cd') { $ok = chdir $p }
  elsif ($op eq 'leave') { $ok = chdir '/' }
  elsif ($op eq 'here') { my @out; my @s = stat '.'; opendir my $d, '.'; $ok = 1; $data = join ';', (@s ? 'there' : 'none'), sort grep { !/^\\.\\.?$/ } readdir $d }
  elsif ($op eq 'read') { $ok = 1; $data = content($p) }
  elsif ($op eq 'tree') { my @out; tree($root, '.', \\@out); $ok = 1; $data = join ';', @out }
  elsif ($op eq 'shut') { $ok = syscall(${CALLS.prctl}, 4, 0, 0, 0, 0) == 0 }
  elsif ($op eq 'pid') { $ok = 1; $data = $$ }
  return $ok ? "ok\\t$data" : 'E' . ($! + 0);
}
my @sockets;
for my $n (0 .. $count - 1) {
  socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die;
  my $pid = fork;
  if (!$pid) {
    close $ours; close STDIN; $_->close for @sockets; chdir '/'; $theirs->autoflush(1);
    while (my $line = <$theirs>) { chomp $line; print {$theirs} op(split /\\t/, $line), "\\n" }
    exit 0;
  }
  close $theirs; $ours->autoflush(1); push @sockets, $ours;
}
chdir '/';
STDOUT->autoflush(1);
while (my $line = <STDIN>) {
  chomp $line;
  my ($who, @rest) = split /\\t/, $line;
  my $answer;
  if ($who eq 'x') {
    pipe my $r, my $w;
    my $pid = fork;
    if (!$pid) { print {$w} op(@rest); close $w; exec '/bin/true' }
    close $w; local $/; $answer = <$r>; waitpid $pid, 0;
  }
  else { my $s = $sockets[$who]; print {$s} join("\\t", @rest), "\\n"; $answer = <$s>; chomp $answer }
  print "$answer\\n";
}
`
