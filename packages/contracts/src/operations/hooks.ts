import { claudeCodeEventSchema, claudeCodeHookOutputSchema, claudeCodeHookQuerySchema } from '../http/hooks.js'
import { limits } from '../primitives/limits.js'
import { operation } from './operation.js'

export const hookOperations = {
  claudeCodeHook: operation({
    method: 'POST',
    path: '/v1/hooks/claude-code',
    tag: 'hooks',
    needs: 'produce',
    repeat: 'by-key',
    stage: 'ingest',
    summary: 'Record an event of Claude Code, and answer as its hooks do',
    description:
      'The body is the input of a hook, and the answer its output: a stub in place of a long output of a tool, or what a session needs after a compaction. An event with ids of its own, such as that of a tool call, is recorded once.',
    query: claudeCodeHookQuerySchema,
    body: claudeCodeEventSchema,
    bodyBytesMax: limits.httpBodyBytesMax,
    answers: { 200: { description: 'The output of the hook.', schema: claudeCodeHookOutputSchema } },
  }),
}
