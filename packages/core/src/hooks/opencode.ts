import type { OpenCodeEvent, OpenCodeHookOutput } from '@heddle/contracts'
import type { HookAnswer } from './answer.js'
import { isJsonRecord } from './response-fields.js'
import type { SessionEvent } from './session-event.js'
import { textOutput } from './tool-output.js'

/** Tools of the server that the documentation names `heddle`. */
const OWN_TOOL = /^heddle_/

export function readOpenCodeEvent(event: OpenCodeEvent): SessionEvent {
  const where = { thread: event.session, cwd: event.directory, timestamp: event.sentAt }
  switch (event.type) {
    case 'said':
      return { ...where, type: 'said', role: event.role, text: event.text, identity: `hook ${event.role} ${event.id}` }
    case 'called': {
      const { id, tool, input, output: text, isError = false } = event
      // A recalled text is stored already.
      if (OWN_TOOL.test(tool)) return { ...where, type: 'noted' }
      const replaceable = isError || isReadAgain(tool, input) ? null : textOutput(text)
      return { ...where, type: 'called', id, tool, input, text, isError, replaceable, wantsReference: true }
    }
    case 'compacting':
      return { ...where, type: 'compacting', wantsText: true }
    case 'resumed':
      return { ...where, type: 'started', wantsText: true }
    case 'ended':
      return { ...where, type: 'ended', reason: event.reason }
  }
}

/** Whether a call asks for a part of a file: it wants just these lines, perhaps because a stub left them out. */
function isReadAgain(tool: string, input: unknown): boolean {
  return tool === 'read' && isJsonRecord(input) && (input['offset'] !== undefined || input['limit'] !== undefined)
}

export function openCodeOutput({ stub, reference, text }: HookAnswer): OpenCodeHookOutput {
  return {
    ...(stub !== null && { output: stub.text }),
    ...(reference !== null && { reference }),
    ...(text !== '' && { text }),
  }
}
