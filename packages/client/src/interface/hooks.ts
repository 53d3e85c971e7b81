import type { ClaudeCodeEvent, ClaudeCodeHookOptions, ClaudeCodeHookOutput } from '@heddle/contracts'

/** Events of agents that have hooks, and what these answer. */
export interface HooksClient {
  /** Records an event of Claude Code, and answers as its hook does (docs/claude-code.md). */
  claudeCode(event: ClaudeCodeEvent, options?: ClaudeCodeHookOptions): Promise<ClaudeCodeHookOutput>
}
