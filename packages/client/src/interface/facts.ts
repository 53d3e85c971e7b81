import type { ExtractedFacts, Fact, FactBody, FactExtraction, FactListOptions } from '@heddle/contracts'
import type { Page } from './pages.js'

/** The known facts of an agent and its threads, with the messages that say so. */
export interface FactsClient {
  /** Those recorded last first; `asOf` those that held at a moment; with `query` those for a question, best first. */
  list(agent: string, options?: FactListOptions): Promise<Page<Fact>>
  get(agent: string, id: string): Promise<Fact>
  /** Reads facts from messages of a thread, by rules, and records them; call again with `nextSeq` until it is null. */
  extract(thread: string, options?: FactExtraction): Promise<ExtractedFacts>
  /** Records a fact under an id of the caller, such as `randomUUID()`; with `corrects` in place of another one. */
  put(agent: string, id: string, body: FactBody): Promise<Fact>
  /** It held at no time; its row stays, marked. */
  retract(agent: string, id: string): Promise<Fact>
}
