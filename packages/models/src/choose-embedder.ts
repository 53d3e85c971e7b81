import { HeddleError } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Embedder } from './embedder.js'
import { createHashingEmbedder } from './hashing-embedder.js'
import { createLocalEmbedder, type LocalEmbedderOptions } from './local-embedder.js'

export interface EmbedderChoice extends LocalEmbedderOptions {
  /** `auto` takes the local model where its files are on disk and can be loaded, else `hashing`. */
  kind: 'auto' | 'hashing' | 'local'
  log: Pick<Logger, 'info' | 'warn'>
}

export interface ChosenEmbedder {
  embedder: Embedder
  /** A sentence that says why this one, for `doctor`. */
  reason: string
}

/**
 * The embedder that the configuration asks for. What was chosen is logged and told, never silent: vectors of the two are
 * not comparable, and `hashing` finds words where a model finds meanings.
 *
 * @throws PermanentError for `local` without its model: see {@link createLocalEmbedder}
 */
export async function chooseEmbedder(choice: EmbedderChoice): Promise<ChosenEmbedder> {
  const { kind, log, ...local } = choice
  const chosen = kind === 'hashing' ? byConfiguration(createHashingEmbedder()) : await chooseLocal(kind, local)
  const facts = { model: chosen.embedder.model, dimensions: chosen.embedder.dimensions, reason: chosen.reason }
  if (chosen.fellBack) log.warn(facts, 'embedder chosen')
  else log.info(facts, 'embedder chosen')
  return { embedder: chosen.embedder, reason: chosen.reason }
}

interface Candidate extends ChosenEmbedder {
  fellBack: boolean
}

function byConfiguration(embedder: Embedder): Candidate {
  return { embedder, reason: `the configuration asks for ${embedder.model}`, fellBack: false }
}

async function chooseLocal(kind: 'auto' | 'local', options: LocalEmbedderOptions): Promise<Candidate> {
  if (kind === 'local') return byConfiguration(await createLocalEmbedder(options))
  try {
    const embedder = await createLocalEmbedder(options)
    await provenToLoad(embedder)
    return { embedder, reason: `the files of ${embedder.model} are on disk`, fellBack: false }
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    return { embedder: createHashingEmbedder(), reason: `words only, since ${error.message}`, fellBack: true }
  }
}

/** Files that are there may still be damaged: only a text that went through shows that they are not. */
async function provenToLoad(embedder: Embedder): Promise<void> {
  try {
    await embedder.embed([''])
  } catch (error) {
    await embedder.close()
    throw error
  }
}
