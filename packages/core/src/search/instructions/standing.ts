import { lastingInstructions } from './lasting-instructions.js'
import { isReplaced } from './replaced.js'
import { endedBy, type InstructionWords, instructionWords, type TakingBack, takingsBack } from './takings-back.js'

/** A text of a person. */
export interface SaidText {
  readonly text: string
  readonly thread: string
  /** The name of the speaker, if the message has one. */
  readonly user: string | null
}

/** For what an instruction holds: for its thread, for all threads of the agent, or for its user in all of them. */
export type InstructionScope = 'thread' | 'agent' | 'user'

export interface Instruction {
  readonly sentence: string
  readonly scope: InstructionScope
  /** The index of its text, and of that which ended it; null while it holds. */
  readonly saidIn: number
  readonly endedIn: number | null
  /** The sentence that ended it. */
  readonly endedBy: string | null
}

const OF_THREAD = /\b(?:in|for|during|throughout) this (?:thread|conversation|session|chat|task|discussion)\b/i
const OF_AGENT =
  /\b(?:in|for|across) (?:all|every|each|any) (?:of )?(?:the |your |my |our )?(?:threads?|conversations?|sessions?|chats?|tasks?|users?)\b|\b(?:for|with) (?:everyone|everybody|all of us)\b/i

export function scopeOf(sentence: string, user: string | null): InstructionScope {
  if (OF_THREAD.test(sentence)) return 'thread'
  return user === null || OF_AGENT.test(sentence) ? 'agent' : 'user'
}

/**
 * The lasting instructions of texts, each with what ended it: a sentence that takes it back, or a later instruction that cannot
 * hold beside it. Only one of the same thread, agent or user ends it, and a doubtful one ends nothing.
 *
 * @param texts in the order in which they were said
 */
export function standingInstructions(texts: readonly SaidText[]): Instruction[] {
  const all: Instruction[] = []
  const words: InstructionWords[] = []
  for (const [index, said] of texts.entries()) {
    const own = lastingInstructions(said.text)
    const takings = takingsBack(said.text)
    for (const taking of takings) end(openTo(said, taking.sentence), taking, index)
    for (const sentence of own) {
      const later = instructionWords(sentence)
      const open = openTo(said, sentence).filter((at) => isReplaced(wordsOf(at), later))
      for (const at of open) close(at, sentence, index)
    }
    const released = new Set(takings.flatMap(({ sentence, isProhibition }) => (isProhibition ? [] : [sentence])))
    for (const sentence of own) {
      if (released.has(sentence)) continue
      all.push({ sentence, scope: scopeOf(sentence, said.user), saidIn: index, endedIn: null, endedBy: null })
      words.push(instructionWords(sentence))
    }
  }
  return all

  /** The instructions that hold, and that a sentence can be about. */
  function openTo(said: SaidText, sentence: string): number[] {
    const isOfThread = OF_THREAD.test(sentence)
    return all.flatMap(({ scope, saidIn, endedIn }, at) => {
      const before = texts[saidIn]
      if (before === undefined || endedIn !== null) return []
      const isSameThread = before.thread === said.thread
      if ((isOfThread || scope === 'thread') && !(isSameThread && scope === 'thread')) return []
      return before.user === said.user || (isSameThread && (before.user === null || said.user === null)) ? [at] : []
    })
  }

  function wordsOf(at: number): InstructionWords {
    return words[at] ?? instructionWords('')
  }

  function end(open: readonly number[], taking: TakingBack, index: number): void {
    for (const at of endedBy(taking, open.map(wordsOf))) close(open[at] ?? -1, taking.sentence, index)
  }

  function close(at: number, sentence: string, index: number): void {
    const instruction = all[at]
    if (instruction !== undefined) all[at] = { ...instruction, endedIn: index, endedBy: sentence }
  }
}
