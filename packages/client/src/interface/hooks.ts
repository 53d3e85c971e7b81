import type {
  ClaudeCodeEvent,
  ClaudeCodeHookOutput,
  CodexEvent,
  CodexHookOutput,
  HookOptions,
  OpenCodeEvent,
  OpenCodeHookOutput,
} from '@heddle/contracts'

/** Events of agents that have hooks, and what these answer. */
export interface HooksClient {
  /** Records an event of Claude Code, and answers as its hook does (docs/claude-code.md). */
  claudeCode(event: ClaudeCodeEvent, options?: HookOptions): Promise<ClaudeCodeHookOutput>
  /** Records an event of Codex, and answers as its hook does (docs/codex.md). */
  codex(event: CodexEvent, options?: HookOptions): Promise<CodexHookOutput>
  /** Records an event of OpenCode, and answers its plugin (docs/opencode.md). */
  openCode(event: OpenCodeEvent, options?: HookOptions): Promise<OpenCodeHookOutput>
}
