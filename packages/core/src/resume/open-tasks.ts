import type { Message } from '../conversation/message.js'
import type { ToolPairs } from '../conversation/turns.js'
import { readArguments } from '../tools/arguments.js'
import { oneLine } from '../tools/lines.js'

const TASK_CHARACTERS_MAX = 240

/** The tasks of a session that were not finished, as its to-do list said last: from `TodoWrite`, or the task tools. */
export function openTasks(messages: readonly Message[], pairs: ToolPairs): string[] {
  let list: readonly Task[] = []
  const tasks = new Map<string, Task>()
  for (const message of messages) {
    for (const { call, result } of pairs.byCallMessage.get(message.id) ?? []) {
      const { fields } = readArguments(call)
      if (call.name === 'TodoWrite' && Array.isArray(fields['todos'])) list = fields['todos'].flatMap(taskOf)
      if (call.name === 'TaskCreate') {
        const id = /#(\d{1,9})/.exec(result?.content.slice(0, 200) ?? '')?.[1] ?? String(tasks.size + 1)
        for (const task of taskOf(fields)) tasks.set(id, task)
      }
      if (call.name === 'TaskUpdate') update(tasks, fields)
    }
  }
  return [...list, ...tasks.values()].flatMap(({ text, status }) =>
    status === 'completed' || status === 'deleted'
      ? []
      : [`${status === 'in_progress' ? 'In progress' : 'To do'}: ${text}`],
  )
}

interface Task {
  readonly text: string
  readonly status: string
}

function taskOf(entry: unknown): Task[] {
  if (typeof entry !== 'object' || entry === null) return []
  const { content, subject, status } = entry as Readonly<Record<string, unknown>>
  const text = typeof content === 'string' ? content : typeof subject === 'string' ? subject : ''
  if (text === '') return []
  return [{ text: oneLine(text, TASK_CHARACTERS_MAX), status: typeof status === 'string' ? status : 'pending' }]
}

function update(tasks: Map<string, Task>, { taskId, status, subject }: Readonly<Record<string, unknown>>): void {
  const task = tasks.get(String(taskId))
  if (task === undefined) return
  tasks.set(String(taskId), {
    text: typeof subject === 'string' ? oneLine(subject, TASK_CHARACTERS_MAX) : task.text,
    status: typeof status === 'string' ? status : task.status,
  })
}
