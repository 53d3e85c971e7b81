import { HeldInstructions } from './held-instructions.js'
import { lastingInstructions } from './lasting-instructions.js'
import { isReplaced } from './replaced.js'
import { endedBy, type InstructionWords, instructionWords, takingsBack } from './takings-back.js'

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
  const held = new HeldInstructions()
  for (const [index, said] of texts.entries()) {
    const own = lastingInstructions(said.text).map((sentence) => ({ sentence, words: instructionWords(sentence) }))
    const takings = takingsBack(said.text)
    for (const taking of takings) {
      const open = held.withRarestOf(taking.words).filter((at) => isOpenTo(at, said, taking.sentence))
      for (const ended of endedBy(taking, open.map(wordsOf))) close(open[ended] ?? -1, taking.sentence, index)
    }
    for (const { sentence, words } of own) {
      const open = held.comparableTo(words).filter((at) => isOpenTo(at, said, sentence))
      for (const at of open.filter((at) => isReplaced(wordsOf(at), words))) close(at, sentence, index)
    }
    const released = new Set(takings.flatMap(({ sentence, isProhibition }) => (isProhibition ? [] : [sentence])))
    for (const { sentence, words } of own) {
      if (released.has(sentence)) continue
      held.add(all.length, words)
      all.push({ sentence, scope: scopeOf(sentence, said.user), saidIn: index, endedIn: null, endedBy: null })
    }
  }
  return all

  /** Whether a sentence can be about an instruction that holds. */
  function isOpenTo(at: number, said: SaidText, sentence: string): boolean {
    const [instruction, before] = [all[at], texts[all[at]?.saidIn ?? -1]]
    if (instruction === undefined || before === undefined) return false
    const isSameThread = before.thread === said.thread
    const isOfThread = instruction.scope === 'thread'
    if ((isOfThread || OF_THREAD.test(sentence)) && !(isSameThread && isOfThread)) return false
    return before.user === said.user || (isSameThread && (before.user === null || said.user === null))
  }

  function wordsOf(at: number): InstructionWords {
    return held.wordsOf(at) ?? instructionWords('')
  }

  function close(at: number, sentence: string, index: number): void {
    const instruction = all[at]
    if (instruction === undefined) return
    all[at] = { ...instruction, endedIn: index, endedBy: sentence }
    held.delete(at)
  }
}
