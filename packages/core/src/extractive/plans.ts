import type { Candidate } from '../speech/sections.js'
import { oneLine, truncate } from '../tools/lines.js'
import type { Action } from './calls.js'

const STEPS_MAX = 40
const STEP_CHARACTERS_MAX = 200

/** The steps in a call that updates an agent's to-do list: the open ones and the finished ones. */
export function planSteps({ fields }: Action, place: number, reference: string): Candidate[] {
  const list = [fields['todos'], fields['plan'], fields['items'], fields['tasks']].find(Array.isArray)
  if (!list) return []
  return list.slice(0, STEPS_MAX).flatMap((entry: unknown): Candidate[] => {
    if (typeof entry !== 'object' || entry === null) return []
    const { content, step, title, status } = entry as Record<string, unknown>
    const words = [content, step, title].find((each) => typeof each === 'string')
    if (words === undefined || typeof status !== 'string') return []
    const text = truncate(oneLine(String(words)), STEP_CHARACTERS_MAX)
    const isDone = /^(?:done|completed?|cancell?ed)$/i.test(status)
    if (text === '') return []
    const told = isDone ? `Done: ${text}` : /progress|active/i.test(status) ? `In progress: ${text}` : `To do: ${text}`
    return [{ section: isDone ? 'state' : 'next', text: told, score: isDone ? 6 : 12, place, reference }]
  })
}
