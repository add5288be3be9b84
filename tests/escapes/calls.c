/*
 * System calls that would reach around the walls of a sandbox, one function each, chosen by name.
 * A function returns 0 or more when it got what it wanted; then `ESCAPED name` is printed, else the
 * reason. Nothing here writes to what it reaches: getting hold of it is enough.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *argument = "";

static int say_all(long (*one)(int), const int *values, int count) {
  int won = -1;
  for (int i = 0; i < count; i++)
    if (one(values[i]) >= 0) {
      printf("ESCAPED value %#x\n", values[i]);
      won = 0;
    }
  return won;
}
#define ALL(one, ...) \
  do { \
    const int values[] = {__VA_ARGS__}; \
    return say_all(one, values, sizeof values / sizeof *values); \
  } while (0)

/* Other processes. */
static int ptrace_first(void) { return ptrace(PTRACE_ATTACH, 1, 0, 0); }
static int ptrace_seize(void) { return ptrace(PTRACE_SEIZE, getppid(), 0, 0); }
static int ptrace_me(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0); }
static int vm_transfer(int number) {
  char bytes[8] = {0};
  struct iovec own = {bytes, 8}, other = {(void *)&argument, 8};
  return syscall(number, getppid(), &own, 1, &other, 1, 0);
}
static int vm_read(void) { return vm_transfer(SYS_process_vm_readv); }
static int vm_write(void) { return vm_transfer(SYS_process_vm_writev); }
static int pidfd_steal(void) {
  int pid = syscall(SYS_pidfd_open, 1, 0);
  for (int fd = 0; fd < 16; fd++)
    if (syscall(SYS_pidfd_getfd, pid, fd, 0) >= 0) return 0;
  return -1;
}
static int kcmp_first(void) { return syscall(SYS_kcmp, getpid(), 1, 0, 0, 0); }
static int limits_of_host(void) {
  struct rlimit got;
  return prlimit(atoi(argument), RLIMIT_NOFILE, NULL, &got);
}
static int signal_host(void) { return kill(atoi(argument), 0); }
static int pidfd_host(void) { return syscall(SYS_pidfd_open, atoi(argument), 0); }
static int renice_user(void) {
  /* Own processes are allowed; the host's are looked at from outside. */
  setpriority(PRIO_USER, getuid(), 19);
  syscall(SYS_ioprio_set, 3, getuid(), 3 << 13);
  return -1;
}

/* Namespaces. */
static long unshare_one(int flag) { return unshare(flag); }
static int unshare_each(void) {
  ALL(unshare_one, CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
      CLONE_NEWCGROUP, 0x80);
}
static long clone_one(int flag) {
  long pid = syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, NULL, 0);
  return pid;
}
static int clone_each(void) {
  ALL(clone_one, CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET);
}
static long clone3_one(int flag) {
  uint64_t arguments[11] = {(uint32_t)flag};
  arguments[4] = SIGCHLD;
  long pid = syscall(435, arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  return pid;
}
static int clone3_each(void) { ALL(clone3_one, CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, 0x80); }
static int setns_each(void) {
  const char *names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
  int won = -1;
  for (int i = 0; i < 8; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
    if (setns(open(path, O_RDONLY), 0) == 0) won = 0;
  }
  return won;
}
static int setns_parent(void) {
  /* NS_GET_PARENT and NS_GET_USERNS lead out of a namespace, where they are let. */
  int user = open("/proc/self/ns/user", O_RDONLY), pid = open("/proc/self/ns/pid", O_RDONLY);
  int up = ioctl(user, 0xb702), out = ioctl(pid, 0xb702), owner = ioctl(pid, 0xb701);
  if (up >= 0 && setns(up, 0) == 0) return 0;
  if (out >= 0 && setns(out, 0) == 0) return 0;
  return owner >= 0 ? setns(owner, 0) : -1;
}
static int write_uid_map(void) {
  int map = open("/proc/self/uid_map", O_WRONLY);
  return map < 0 ? -1 : write(map, "0 0 4294967295", 14);
}

/* Mounts. */
static int mount_tmpfs(void) { return mount("x", "/tmp", "tmpfs", 0, ""); }
static int mount_proc(void) { return mount("proc", "/tmp", "proc", 0, ""); }
static int mount_bind(void) { return mount("/", "/tmp", NULL, MS_BIND | MS_REC, NULL); }
static long remount_one(int flag) { return mount(NULL, "/", NULL, MS_REMOUNT | flag, NULL); }
static int remount_writable(void) { ALL(remount_one, 0, MS_BIND, MS_BIND | MS_REC); }
static int mount_move(void) { return mount("/tmp", "/mnt", NULL, MS_MOVE, NULL); }
static int mount_propagate(void) { return mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL); }
static int unmount_mask(void) { return umount2(argument, MNT_DETACH); }
static int unmount_each(void) {
  const char *places[] = {"/tmp", "/run", "/dev", "/proc", "/proc/sys", "/sys/fs/cgroup", "/"};
  int won = -1;
  for (int i = 0; i < 7; i++)
    if (umount2(places[i], MNT_DETACH) == 0) won = 0;
  return won;
}
static int fsopen_new(void) { return syscall(430, "tmpfs", 0); }
static int open_tree_clone(void) { return syscall(428, AT_FDCWD, "/", 1 | AT_RECURSIVE); }
static int move_mount_tree(void) { return syscall(429, AT_FDCWD, "/tmp", AT_FDCWD, "/mnt", 0); }
static int fspick_root(void) { return syscall(433, AT_FDCWD, "/", 0); }
static int mount_setattr_writable(void) {
  uint64_t attributes[4] = {0, 1, 0, 0}; /* clear MOUNT_ATTR_RDONLY */
  return syscall(442, AT_FDCWD, "/", AT_RECURSIVE, attributes, sizeof attributes);
}
static int pivot(void) { return syscall(SYS_pivot_root, "/tmp", "/tmp"); }
static int chroot_out(void) {
  mkdir("/tmp/jail", 0755);
  return chroot("/tmp/jail");
}
static int handle_open(void) {
  /* Inode 2 is the root of ext4; a handle needs no path. */
  struct {
    unsigned bytes;
    int type;
    unsigned char handle[8];
  } root = {8, 1, {2, 0, 0, 0, 0, 0, 0, 0}};
  return syscall(SYS_open_by_handle_at, open("/", O_RDONLY), &root, O_RDONLY);
}
static int handle_name(void) {
  char handle[136] = {(char)128};
  int id;
  return syscall(SYS_name_to_handle_at, AT_FDCWD, "/etc/passwd", handle, &id, 0);
}

/* Devices. */
static long node_one(int number) {
  char path[] = "node-XXXXXX";
  int fd = mkstemp(path);
  close(fd);
  unlink(path);
  return mknod(path, (number < 0 ? S_IFBLK : S_IFCHR) | 0666, makedev(abs(number) >> 8, number & 255));
}
static int device_nodes(void) { ALL(node_one, -(254 << 8), -(7 << 8), (1 << 8) | 1, (10 << 8) | 229); }
static int whiteout_node(void) { return mknod("whiteout", S_IFCHR, makedev(0, 0)); }

/* Kernel surface. */
static int io_uring(void) {
  char parameters[120] = {0};
  return syscall(425, 4, parameters);
}
static int bpf_map(void) {
  uint32_t attributes[32] = {2, 4, 4, 1};
  return syscall(SYS_bpf, 0, attributes, sizeof attributes);
}
static int userfault(void) { return syscall(SYS_userfaultfd, O_NONBLOCK | 1); }
static int keyring_read(void) { return syscall(SYS_keyctl, 0, -3, 1); }
static int key_add(void) { return syscall(SYS_add_key, "user", "x", "y", 1, -4); }
static int key_request(void) { return syscall(SYS_request_key, "user", "x", "y", -4); }
static int perf(void) {
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes};
  return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}
static int module_load(void) { return syscall(SYS_init_module, "", 0, ""); }
static int kernel_log(void) {
  char text[64];
  return syscall(SYS_syslog, 3, text, sizeof text);
}
static int fanotify(void) { return syscall(SYS_fanotify_init, 0, O_RDONLY); }
static int clock_set(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return clock_settime(CLOCK_REALTIME, &now);
}
static int host_name(void) { return sethostname("stolen", 6); }
static int quota(void) { return syscall(SYS_quotactl, 0x80000700, "/dev/vda", 0, 0); }
static int accounting(void) { return acct(argument); }
static int personality_exec(void) { return syscall(SYS_personality, 0x0400000); }
static int foreign_calls(void) {
#if defined(__x86_64__)
  long got;
  /* getpid as i386 knows it. */
  __asm__ volatile("int $0x80" : "=a"(got) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
  return got;
#else
  raise(SIGSYS);
  return -1;
#endif
}
static int x32_calls(void) { return syscall(0x40000000 | 39); }
static int unknown_calls(void) {
  int won = -1;
  for (long number = 467; number < 700; number++)
    if (syscall(number, 0, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS) won = 0;
  return won;
}

/* Privileges. */
static int become_root(void) {
  if (getuid() == 0) return -1;
  return setuid(0) == 0 || setresuid(0, 0, 0) == 0 ? 0 : -1;
}
static int capability_raise(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0); }
static int new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0); }
static int securebits(void) { return prctl(PR_SET_SECUREBITS, 0); }
static int limits_raise(void) {
  struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
  return setrlimit(RLIMIT_FSIZE, &most) == 0 || setrlimit(RLIMIT_CPU, &most) == 0 ? 0 : -1;
}

/* Sockets. */
static long socket_one(int family) { return socket(family, SOCK_STREAM, 0); }
static long raw_one(int family) { return socket(family, SOCK_RAW, 1); }
static long netlink_one(int protocol) { return socket(AF_NETLINK, SOCK_RAW, protocol); }
static int socket_families(void) {
  int won = -1;
  for (int family = 3; family < 64; family++) {
    if (family == AF_INET6 || family == AF_NETLINK) continue;
    for (int kind = 1; kind <= 5; kind++)
      if (socket(family, kind, 0) >= 0) {
        printf("ESCAPED family %d kind %d\n", family, kind);
        won = 0;
      }
  }
  return won;
}
static int vsock(void) { ALL(socket_one, AF_VSOCK); }
static int raw_sockets(void) { ALL(raw_one, AF_INET, AF_INET6, AF_PACKET); }
static int netlink(void) { ALL(netlink_one, 2, 4, 5, 6, 9, 10, 12, 15, 16, 20); }
static int packet_old(void) { return socket(AF_INET, SOCK_PACKET, 0x300); }
static int high_half(void) {
  /* The kernel reads an int, so the upper half must not confuse the filter. */
  int packet = syscall(SYS_socket, 0xdeadbeef00000011UL, 3UL, 0UL);
  return packet >= 0 ? 0 : unshare(CLONE_NEWUSER) == 0 ? 0 : syscall(SYS_unshare, 0xdeadbeef10000000UL);
}
static int abstract_connect(void) {
  struct sockaddr_un address = {AF_UNIX, ""};
  int own = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path + 1, argument, sizeof address.sun_path - 2);
  return connect(own, (void *)&address, sizeof(sa_family_t) + 1 + strlen(argument));
}

/* Terminals. */
static int terminal_type(void) {
  int won = -1, first = open("/dev/tty", O_RDWR);
  for (int fd = first < 0 ? 0 : first; fd >= 0; fd = fd == first ? 2 : fd - 1)
    if (ioctl(fd, TIOCSTI, "#") == 0) won = 0;
  return won;
}
static long terminal_one(int request) {
  int manager, worker;
  char one = 1;
  if (openpty(&manager, &worker, NULL, NULL, NULL) != 0) return -1;
  return ioctl(worker, request, &one);
}
static int terminal_console(void) { ALL(terminal_one, TIOCSTI, TIOCLINUX, TIOCCONS); }

/* What is held open through the first process. */
static int first_files_writable(void) {
  int won = -1;
  for (int fd = 0; fd < 64; fd++) {
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    if (open(path, O_WRONLY) >= 0 || chmod(path, about.st_mode & 07777) == 0) {
      printf("ESCAPED fd %d\n", fd);
      won = 0;
    }
  }
  return won;
}
static int pipes_closed(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fchmod(fd, 0) == 0) return 0;
  return -1;
}

/* Hogs: they take until somebody stops them, at most a gigabyte. */
#define MEGABYTE (1 << 20)
static int hog_memfd(void) {
  static char page[MEGABYTE];
  memset(page, 1, sizeof page);
  for (int total = 0; total < 1024;) {
    int fd = memfd_create("hog", 0);
    if (fd < 0) return -1;
    for (int i = 0; i < 4 && total < 1024; i++, total++)
      if (write(fd, page, sizeof page) < 0) return -1;
    usleep(2000);
  }
  return 0;
}
static int hog_sockets(void) {
  static char page[65536];
  for (int pair = 0; pair < 2000; pair++) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return -1;
    while (write(ends[0], page, sizeof page) > 0) continue;
    while (write(ends[1], page, sizeof page) > 0) continue;
    if (pair % 16 == 0) usleep(2000);
  }
  sleep(1);
  return -1;
}
static int hog_segments(void) {
  for (int segment = 0; segment < 128; segment++) {
    int id = shmget(IPC_PRIVATE, 8 * MEGABYTE, 0600);
    char *at = shmat(id, NULL, 0);
    if (at == (void *)-1) return -1;
    memset(at, 1, 8 * MEGABYTE);
    shmdt(at);
    usleep(2000);
  }
  return -1;
}
/* On a busy machine the disk is looked at seconds later: what was taken is still held then. */
static int kept(void) {
  sleep(20);
  return 0;
}
static int hog_unlinked(void) {
  static char page[MEGABYTE];
  memset(page, 1, sizeof page);
  for (int file = 0; file < 30; file++) {
    int fd = open("gone", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    unlink("gone");
    for (int i = 0; i < 10; i++)
      if (write(fd, page, sizeof page) < 0) return -1;
  }
  return kept();
}
static int hog_deep(void) {
  char name[201];
  memset(name, 'd', 200);
  name[200] = 0;
  for (int depth = 0; depth < 60; depth++)
    if (mkdir(name, 0700) != 0 || chdir(name) != 0) return -1;
  static char page[MEGABYTE];
  memset(page, 1, sizeof page);
  for (int file = 0; file < 3; file++) {
    char path[16];
    snprintf(path, sizeof path, "f%d", file);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 100; i++)
      if (write(fd, page, sizeof page) < 0) return -1;
  }
  return kept();
}
static int hog_threads(void) {
  for (int task = 0; task < 2000; task++) {
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (clone((int (*)(void *))pause, stack + 65536,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL) < 0)
      break;
  }
  sleep(1);
  return -1;
}
static int hog_confetti(void) {
  /* Children that live shorter than anybody looks, and that nobody waits for. */
  signal(SIGCHLD, SIG_IGN);
  struct timespec began, now;
  clock_gettime(CLOCK_MONOTONIC, &began);
  do {
    if (fork() == 0) {
      clock_t until = clock() + CLOCKS_PER_SEC / 200;
      while (clock() < until) continue;
      _exit(0);
    }
    usleep(3000);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - began.tv_sec < 8);
  return -1;
}

#define CALL(name) {#name, name}
static const struct {
  const char *name;
  int (*run)(void);
} CALLS[] = {
    CALL(ptrace_first), CALL(ptrace_seize), CALL(ptrace_me), CALL(vm_read), CALL(vm_write),
    CALL(pidfd_steal), CALL(kcmp_first), CALL(limits_of_host), CALL(signal_host), CALL(pidfd_host),
    CALL(renice_user), CALL(unshare_each), CALL(clone_each), CALL(clone3_each), CALL(setns_each),
    CALL(setns_parent), CALL(write_uid_map), CALL(mount_tmpfs), CALL(mount_proc), CALL(mount_bind),
    CALL(remount_writable), CALL(mount_move), CALL(mount_propagate), CALL(unmount_mask),
    CALL(unmount_each), CALL(fsopen_new), CALL(open_tree_clone), CALL(move_mount_tree),
    CALL(fspick_root), CALL(mount_setattr_writable), CALL(pivot), CALL(chroot_out),
    CALL(handle_open), CALL(handle_name), CALL(device_nodes), CALL(whiteout_node), CALL(io_uring),
    CALL(bpf_map), CALL(userfault), CALL(keyring_read), CALL(key_add), CALL(key_request), CALL(perf),
    CALL(module_load), CALL(kernel_log), CALL(fanotify), CALL(clock_set), CALL(host_name), CALL(quota),
    CALL(accounting), CALL(personality_exec), CALL(foreign_calls), CALL(x32_calls),
    CALL(unknown_calls), CALL(become_root), CALL(capability_raise), CALL(new_privileges),
    CALL(securebits), CALL(limits_raise), CALL(socket_families), CALL(vsock), CALL(raw_sockets),
    CALL(netlink), CALL(packet_old), CALL(high_half), CALL(abstract_connect), CALL(terminal_type),
    CALL(terminal_console), CALL(first_files_writable), CALL(pipes_closed), CALL(hog_memfd),
    CALL(hog_sockets), CALL(hog_segments), CALL(hog_unlinked), CALL(hog_deep), CALL(hog_threads),
    CALL(hog_confetti),
};

int main(int count, char **words) {
  if (count < 2) return 126;
  if (count > 2) argument = words[2];
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
    if (strcmp(words[1], CALLS[i].name) != 0) continue;
    errno = 0;
    if (CALLS[i].run() >= 0) printf("ESCAPED %s\n", words[1]);
    else printf("%s: %s\n", words[1], strerror(errno));
    return 0;
  }
  return 127;
}
