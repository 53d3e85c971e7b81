import { agentIdOf, threadIdOf } from '@heddle/core'

interface Owners {
  readonly project: string | null
  readonly thread: string | null
  readonly agent: string | null
}

/** Thread and agent of a job; a malformed payload may have any shape. */
export function ownersOf(payload: unknown): Owners {
  const fields = (payload !== null && typeof payload === 'object' ? payload : {}) as Record<string, unknown>
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null)
  const project = uuidOf(text('projectId'))
  const [thread, agent] = [text('thread'), text('agent')]
  return {
    project,
    thread: uuidOf(text('threadId')) ?? (project === null || thread === null ? null : threadIdOf(project, thread)),
    agent: project === null || agent === null ? null : agentIdOf(project, agent),
  }
}

function uuidOf(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : null
}
