import { claudeCodeEventSchema, claudeCodeHookOutputSchema } from '../hooks/claude-code.js'
import { codexEventSchema, codexHookOutputSchema } from '../hooks/codex.js'
import { openCodeEventSchema, openCodeHookOutputSchema } from '../hooks/opencode.js'
import { hookQuerySchema } from '../hooks/options.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

const common = {
  method: 'POST',
  tag: 'hooks',
  needs: 'produce',
  repeat: 'by-key',
  stage: 'ingest',
  query: hookQuerySchema,
  bodyBytesMax: limits.httpBodyBytesMax,
} as const

export const hookOperations = {
  claudeCodeHook: operation({
    ...common,
    path: '/v1/hooks/claude-code',
    summary: 'Record an event of Claude Code, and answer as its hooks do',
    description:
      'The body is the input of a hook, and the answer its output: a stub in place of a long output of a tool, or what a session needs after a compaction. An event with ids of its own, such as that of a tool call, is recorded once.',
    body: claudeCodeEventSchema,
    answers: { 200: { description: 'The output of the hook.', schema: claudeCodeHookOutputSchema } },
  }),
  codexHook: operation({
    ...common,
    path: '/v1/hooks/codex',
    summary: 'Record an event of Codex, and answer as its hooks do',
    description:
      'The body is the input of a hook, and the answer its output: a stub in place of a long output of a tool, or what a session needs after a compaction. An event of a call, or with the id of its prompt, is recorded once.',
    body: codexEventSchema,
    answers: { 200: { description: 'The output of the hook.', schema: codexHookOutputSchema } },
  }),
  openCodeHook: operation({
    ...common,
    path: '/v1/hooks/opencode',
    summary: 'Record an event of OpenCode, and answer its plugin',
    description:
      'The body is an event as the plugin sends it. The answer has a stub in place of a long output of a tool and the reference of its original, or what a session needs after a compaction. Each event is recorded once by its id.',
    body: openCodeEventSchema,
    answers: { 200: { description: 'Changes that the plugin makes.', schema: openCodeHookOutputSchema } },
  }),
}
