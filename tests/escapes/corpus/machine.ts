/** What the machine shows of itself: /proc, /sys, /dev, control groups, programs with privileges. */
import type { Attempt } from '../attempt.ts'

/** Opens for writing, and writes nothing. */
const OPENS = `perl -MFcntl -e 'for (@ARGV) { sysopen(F, $_, O_WRONLY) and print "ESCAPED $_\\n" }'`

/** Settings of namespaces that are the sandbox's own. */
const OWN = '/(msg|sem|shm|auto_msgmni|ns_last_pid|pid_max|mqueue/)'

export const MACHINE_ATTEMPTS: readonly Attempt[] = [
  {
    id: 'procfs/core-pattern',
    title: 'the program that gets core dumps',
    program: ['sh', `${OPENS} /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe`],
  },
  {
    id: 'procfs/settings',
    title: 'every setting of the kernel and of memory',
    program: [
      'sh',
      `${OPENS} $(find /proc/sys/kernel /proc/sys/vm /proc/sys/fs -type f | grep -vE '${OWN}')`,
    ],
  },
  {
    id: 'procfs/writable',
    title: 'any file of /proc outside processes that can be written',
    program: [
      'sh',
      // Every user may write pressure files, and a write only registers for notifications.
      `${OPENS} $(find /proc -maxdepth 5 -path '/proc/[0-9]*' -prune -o -path /proc/pressure -prune -o ` +
        `-path /proc/self -prune -o -path /proc/thread-self -prune -o -path /proc/sys -prune -o -type f -print)`,
    ],
  },
  {
    id: 'procfs/sysrq',
    title: 'the panic button',
    program: ['sh', `${OPENS} /proc/sysrq-trigger`],
  },
  {
    id: 'procfs/kernel-memory',
    title: 'memory, log and keys of the kernel',
    program: [
      'sh',
      'for f in kcore kmsg keys kpagecount kpageflags timer_list; do ' +
        'head -c 1 /proc/$f 2>/dev/null | grep -q . && [ "$f" != x ] && ls -l /proc/$f | grep -q "^-r--------" && echo "ESCAPED $f"; done',
    ],
  },
  {
    id: 'procfs/symbols',
    title: 'addresses of the kernel',
    program: [
      'sh',
      `grep -vh '^0*[ -]' /proc/kallsyms | head -1 | sed 's/^/ESCAPED /'; ` +
        `grep -h '^ *[0-9a-f]*[1-9a-f]-' /proc/iomem | head -1 | sed 's/^/ESCAPED /'`,
    ],
  },
  {
    id: 'procfs/root-of-first',
    title: 'the file tree of the first process',
    program: [
      'sh',
      'for p in /proc/[0-9]* /proc/self /proc/thread-self; do echo x > $p/root$OUT/file; cat $p/root$HIDDEN/secret; ' +
        'cat $p/cwd/../hidden/secret; r=$p/root; ls $r/proc/$VICTIM && echo ESCAPED; done',
    ],
  },
  {
    id: 'procfs/environ',
    title: 'environments of all processes',
    program: ['sh', 'cat /proc/[0-9]*/environ /proc/$VICTIM/environ | tr "\\0" "\\n"'],
  },
  {
    id: 'procfs/memory-of-host',
    title: 'memory of a process of the machine',
    program: [
      'sh',
      'for f in mem maps environ fd cwd; do ls /proc/$VICTIM/$f && echo ESCAPED; done',
    ],
  },
  {
    id: 'procfs/memory-of-first',
    title: 'a first process that is written over cannot reach further',
    program: [
      'perl',
      `open M, "/proc/1/maps"; while (<M>) { /^([0-9a-f]+)-([0-9a-f]+) rw.*(heap|stack)/ or next;
        open W, "+<", "/proc/1/mem" or last; seek W, hex $1, 0; syswrite W, "\\0" x (hex($2) - hex($1)) }`,
    ],
    caps: { durationMs: 3000 },
    expects: { killedBy: [null, 'duration'] },
  },
  {
    id: 'procfs/exe',
    title: 'write over the running program',
    program: [
      'sh',
      `${OPENS} /proc/self/exe /proc/1/exe /bin/sh; ` +
        `perl -e 'for (@ARGV) { chmod((stat)[2] & 07777, $_) and print "ESCAPED $_\\n" }' /proc/self/exe /proc/1/exe`,
    ],
  },
  {
    id: 'procfs/descriptors',
    title: 'descriptors of every process',
    program: [
      'sh',
      'for f in /proc/[0-9]*/fd/*; do case $(readlink $f) in /|/opt/*|/[r]oot/*|/home/*) echo "ESCAPED $f";; esac; ' +
        'timeout 0.2 head -c 200 $f; ls $f/ ; done',
    ],
  },
  {
    id: 'procfs/score',
    title: 'be the last to be killed for memory',
    program: [
      'sh',
      'echo -1000 > /proc/self/oom_score_adj && echo ESCAPED; echo -1000 > /proc/1/oom_score_adj && echo ESCAPED',
    ],
  },
  {
    id: 'sysfs/writable',
    title: 'any file of /sys that can be written',
    program: [
      'sh',
      `${OPENS} $(find /sys -maxdepth 4 -type f -perm -200 2>/dev/null | head -3000)`,
    ],
  },
  {
    id: 'sysfs/debug',
    title: 'debugging and tracing of the kernel',
    program: [
      'sh',
      'for f in debug tracing security; do for g in /sys/kernel/$f/*; do head -c 1 $g | grep -q . && echo "ESCAPED $g"; done; done; ' +
        'cat /sys/firmware/dmi/tables/DMI | head -c 1 | grep -q . && [ $(id -u) = 0 ] && echo dmi',
    ],
  },
  {
    id: 'cgroup/procs',
    title: 'leave the control group',
    program: [
      'sh',
      'for f in $(find / -xdev -name cgroup.procs -o -xdev -name tasks -path "*cgroup*" 2>/dev/null | head -50) /sys/fs/cgroup/*/tasks /sys/fs/cgroup/cgroup.procs; do ' +
        '(echo $$ > $f) 2>/dev/null && echo "ESCAPED $f"; done',
    ],
  },
  {
    id: 'cgroup/release-agent',
    title: 'have the kernel run a program when a group empties',
    program: [
      'sh',
      'find / -name release_agent -path "*cgroup*" 2>/dev/null | sed "s/^/ESCAPED /"; mkdir /sys/fs/cgroup/x && echo ESCAPED; ' +
        'mkdir /tmp/g; mount -t cgroup -o memory x /tmp/g && echo ESCAPED; mount -t cgroup2 x /tmp/g && echo ESCAPED',
    ],
  },
  {
    id: 'device/present',
    title: 'disks, memory, hypervisor, terminals and fuse',
    program: [
      'sh',
      'for d in vda sda nvme0n1 mem port kmem kmsg kvm fuse loop0 loop-control vsock vhost-vsock vhost-net net/tun mapper/control tty0 tty1 console ' +
        'uinput input/event0 dri/card0 snd/seq rtc0 watchdog hwrng; do [ -e /dev/$d ] && (: < /dev/$d) 2>/dev/null && echo "ESCAPED $d"; done',
    ],
  },
  {
    id: 'device/add',
    title: 'put something into /dev',
    program: [
      'sh',
      'echo x > /dev/new && echo ESCAPED; mkdir /dev/dir && echo ESCAPED; ln -s / /dev/link && echo ESCAPED; mv /dev/full /dev/fuller && echo ESCAPED',
    ],
  },
  {
    id: 'device/terminals',
    title: 'terminals of the machine',
    program: [
      'sh',
      'for t in /dev/pts/[0-9]* /dev/tty; do (echo FORGED > $t) 2>/dev/null && echo "ESCAPED $t"; done; ls /dev/pts',
    ],
  },
  {
    id: 'privilege/setuid',
    title: 'programs with the bit of root',
    program: [
      'sh',
      'for p in su mount passwd newgrp chsh sudo pkexec fusermount3 fusermount; do which $p; done; ' +
        'su -c "echo ESCAPED" </dev/null; su -s /bin/sh -c "touch $OUT/new" nobody </dev/null; ' +
        'cp /bin/sh own; chmod 4755 own; ./own -p -c "id -u; touch $OUT/new" ; [ "$(grep CapEff /proc/self/status | tr -d "[:alpha:][:space:]:0")" = "" ] || echo ESCAPED',
    ],
    expects: { changes: ['own'] },
  },
  {
    id: 'privilege/file-capabilities',
    title: 'give a program capabilities',
    program: [
      'sh',
      'cp /usr/bin/perl own; (PATH=$PATH:/sbin:/usr/sbin setcap cap_sys_admin,cap_dac_override+ep own) && echo ESCAPED; ' +
        'setfattr -n security.capability -v 0x0100000202000020000000000000000000000000 own && echo ESCAPED; ./own -e "print qq(ran)"',
    ],
    expects: { changes: ['own'] },
  },
  {
    id: 'machine/preload',
    title: 'have programs of the machine load something',
    program: [
      'sh',
      `${OPENS} /etc/ld.so.preload /etc/ld.so.cache /etc/environment /etc/profile /etc/passwd /usr/bin/getfattr /usr/bin/bwrap; ` +
        'for d in / /etc /etc/profile.d /etc/cron.d /etc/systemd/system /usr/local/bin /usr/local/sbin /usr/bin /var/spool/cron/crontabs; do ' +
        '[ -w $d ] && echo "ESCAPED $d"; done',
    ],
  },
  {
    id: 'machine/jobs',
    title: 'leave a job with a service',
    program: [
      'sh',
      'echo "touch $OUT/new" | at now; echo "* * * * * touch $OUT/new" | crontab -; systemd-run --user touch $OUT/new; batch </dev/null; ' +
        'systemctl --user start x; dbus-send --session --dest=x /x x.x',
    ],
  },
]
