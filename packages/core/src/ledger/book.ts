import type { Message } from '../conversation/message.js'
import { checkIn, importanceOf, lastWords } from '../extractive/actions.js'
import type { Action } from '../extractive/calls.js'
import { fileEffects } from '../tools/file-effects.js'
import { patchEffects } from '../tools/patches.js'
import { describeToolResult, type ToolOutcome } from '../tools/results.js'
import { applyEffect } from './apply-effect.js'
import type { Ledger } from './artifact.js'
import { Artifacts } from './artifacts.js'
import { linesAfter } from './file-changes.js'
import { mentionsIn } from './mentions.js'

/** Characters of a call in which addresses are searched. */
const CALL_CHARACTERS_MAX = 8_000

/** Enters calls and their results into a ledger. */
export class Book {
  readonly #artifacts: Artifacts

  constructor(before: Ledger | null) {
    this.#artifacts = new Artifacts(before)
  }

  close(code: string): Ledger {
    return this.#artifacts.close(code)
  }

  mention({ use, added, label }: Action, code: string): void {
    if (use.kind === 'edit' || use.kind === 'file_view') return
    for (const { kind, name } of mentionsIn(`${label}\n${added.slice(0, CALL_CHARACTERS_MAX)}`))
      this.#artifacts.set({ kind, name, state: null, code })
  }

  answer(action: Action, code: string, { content, isError }: Message): void {
    const { use, label } = action
    const outcome = describeToolResult(use, content, isError)
    const hasFailed = outcome.failed || outcome.exitStatus === 'failed'
    if (!hasFailed) this.#useFiles(action, code)
    if (use.kind === 'bash' && use.command !== null) {
      for (const effect of fileEffects(use.command, endOf(outcome, content))) applyEffect(this.#artifacts, effect, code)
    }
    if (use.kind === 'edit' || use.kind === 'file_view' || label === '' || importanceOf(action) === 0) return
    const last = use.kind === 'bash' || use.command !== null ? lastWords(content) : ''
    const status = outcome.exitStatus === 'ok' || outcome.exitStatus === 'exit 0' ? '' : outcome.exitStatus
    this.#artifacts.set({
      kind: 'command',
      name: label,
      state: hasFailed ? 'failed' : 'passed',
      detail: [status, last].filter((part) => part !== '').join(', '),
      code,
    })
    const check = use.kind === 'bash' ? checkIn(label) : null
    if (check !== null) this.#artifacts.check({ name: check, passed: !hasFailed })
  }

  #useFiles(action: Action, code: string): void {
    const { use } = action
    const gone = use.kind === 'edit' ? patchEffects(action) : []
    for (const path of use.paths) {
      const before = this.#artifacts.file(path)
      if (use.kind === 'edit') {
        if (gone.some((effect) => effect.path === path || ('to' in effect && effect.to === path))) continue
        const lines = linesAfter(action, before?.lines ?? null)
        this.#artifacts.set({ kind: 'file', name: path, state: 'written', lines, code })
      } else if (use.kind === 'file_view') this.#artifacts.view(path, code)
    }
    for (const effect of gone) applyEffect(this.#artifacts, effect, code)
  }
}

/** A command that was refused has no exit status. */
function endOf({ failed, exitStatus }: ToolOutcome, output: string) {
  return { hasSucceeded: !failed, hasRun: !failed || exitStatus.startsWith('exit '), output }
}
