/** The words of `writ exec`: the row of the table without its work. */
import { type Command, HOME, PASS_FD, STREAM } from '../call/command.ts'

export const EXEC: Omit<Command, 'load'> = {
  name: 'exec',
  here: 'runs your command here; `writ propose` proposes one there',
  says: 'run any command under the gate: see what it does, then let it',
  usage:
    'writ exec [--write GLOB]… [--delete GLOB]… [--net HOST]… [--send HOST]… [--scope DIR]… [--memory MB] [--disk MB] [--time TIME] [--yes] [--report FILE] -- CMD …',
  options: [
    {
      name: 'write',
      value: 'GLOB',
      many: true,
      says: 'what it may create and modify; a directory includes everything in it',
    },
    { name: 'delete', value: 'GLOB', many: true, says: 'what it may delete' },
    {
      name: 'scope',
      value: 'DIR',
      many: true,
      says: 'where it may act; the git working tree without it, else the current directory',
    },
    {
      name: 'net',
      value: 'HOST',
      many: true,
      says: 'a host it may reach; one that is not read-only by the laws needs your passphrase first',
    },
    {
      name: 'send',
      value: 'HOST',
      many: true,
      says: 'a host it may reach and send to without a bound; needs your passphrase first',
    },
    {
      name: 'env',
      value: 'NAME[=VALUE]',
      many: true,
      says: 'a variable it sees besides the usual ones; it is recorded with the command',
    },
    { name: 'yes', short: 'y', value: null, says: 'the plain yes, where a plain yes is enough' },
    {
      name: 'memory',
      value: 'MB',
      says: 'memory it may use; 4096 without it, at most what the laws allow',
    },
    {
      name: 'disk',
      value: 'MB',
      says: 'bytes it may write; 4096 without it, at most what the laws allow',
    },
    {
      name: 'time',
      value: 'TIME',
      says: 'how long it may run: seconds, or 30m, 2h; 1h without it, at most what the laws allow',
    },
    { name: 'report', value: 'FILE', says: 'write the answer to a new file, as JSON' },
    { name: 'report-fd', value: 'N', says: 'write the answer to this file descriptor, as JSON' },
    { name: 'quiet', short: 'q', value: null, says: 'do not say what was promoted' },
    {
      name: 'ticket',
      value: 'TICKET',
      says: 'run the command for which a hook wrote this ticket; no CMD then',
    },
    {
      name: 'shell',
      value: 'TEXT',
      says: 'run a text by bash, with tickets in it replaced; no CMD then',
    },
    PASS_FD,
    STREAM,
    HOME,
  ],
  examples: [
    'writ exec -- npm run build',
    "writ exec --write 'dist/**' -- make dist",
    'writ exec --net registry.npmjs.org -- npm install',
    "writ exec --delete 'tmp/*.log' -- sh -c 'rm -f tmp/*.log'",
    'while read -r f; do writ exec -- lint "$f" </dev/null; done < list',
  ],
  isRunner: true,
}
