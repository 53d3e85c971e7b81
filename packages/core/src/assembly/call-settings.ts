import type { CallSettings, Turns } from '@heddle/contracts'
import { answerTokens } from '../compaction/lane.js'
import { turnsTaken } from '../conversation/turns-taken.js'
import type { BuildInput } from './input.js'

/** The settings for the call of the model: Heddle stores and returns them, the caller applies them. */
export function callSettings({ settings }: Pick<BuildInput, 'settings'>): CallSettings {
  const { model, temperature, topP, maxChatTurns, toolPermission } = settings
  return { model, maxOutputTokens: answerTokens(settings), temperature, topP, maxChatTurns, toolPermission }
}

export function turnsOf(input: BuildInput): Turns {
  return { taken: takenIn(input), max: input.settings.maxChatTurns }
}

function takenIn({ request, loop, turns, messages, state, turnsBefore }: BuildInput): number {
  if (loop !== undefined) return loop.totalIterations
  // The message of the request begins a new turn.
  if (request.message !== undefined) return 0
  return turns ?? turnsTaken({ messages, after: state?.covered?.to ?? null, before: turnsBefore })
}

export function turnNotes({ taken, max }: Turns): string[] {
  return max === null || taken < max ? [] : [`the limit of ${max} chat turns is reached: ${taken} were taken`]
}
