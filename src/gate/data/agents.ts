/**
 * Names of programs that let a model act (best effort: a program can be called anything). A run that
 * one of them started, at any distance, is not a run that a person started, so a plain yes does not
 * count there. Editors with an agent inside are listed too: a terminal in one cannot be told from the
 * agent's own.
 */
export const AGENTS: readonly string[] = [
  'aider',
  'amp',
  'antigravity',
  'auggie',
  'claude',
  'claude-code',
  'claude-desktop',
  'cline',
  'codex',
  'codex-cli',
  'continue',
  'copilot',
  'copilot-agent',
  'crush',
  'cursor',
  'cursor-agent',
  'devin',
  'droid',
  'forge',
  'gemini',
  'gemini-cli',
  'goose',
  'goosed',
  'jules',
  'junie',
  'kilo',
  'kiro',
  'kiro-cli',
  'mini-swe-agent',
  'opencode',
  'openhands',
  'plandex',
  'qwen',
  'qwen-code',
  'roo',
  'swe-agent',
  'warp-agent',
  'windsurf',
]

/** Variables that agents set for what they start, with the agent that each tells. */
export const AGENT_MARKS: Readonly<Record<string, string>> = {
  AI_AGENT: 'claude',
  CLAUDECODE: 'claude',
  CLAUDE_CODE_SESSION_ID: 'claude',
  CODEX_CI: 'codex',
  CODEX_SESSION_ID: 'codex',
  CODEX_THREAD_ID: 'codex',
  CODEX_TOOL_CALL_ID: 'codex',
  COPILOT_AGENT_SESSION_ID: 'copilot',
  COPILOT_CLI: 'copilot',
  GEMINI_CLI: 'gemini',
  GEMINI_SESSION_ID: 'gemini',
  OPENCODE: 'opencode',
  OPENCODE_PID: 'opencode',
  QWEN_CODE_SESSION_ID: 'qwen',
}
