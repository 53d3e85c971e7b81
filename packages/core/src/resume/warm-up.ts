import { countTokens } from '../tokens/tokens.js'
import { resumeTextInSteps } from './resume-text.js'
import { sampleSession } from './sample-session.js'

/** Turns of the sample in each text: the later ones find their code compiled, and so may be longer. */
const TURNS = [1, 2, 4, 4, 8, 8, 12, 12, 16, 16, 16]

/**
 * Makes texts of a session that nobody had. The first text of a process takes several times as long as later ones: the table of
 * the tokenizer is read, and code is compiled. A process that does this beforehand keeps no agent waiting for it; hooks come
 * meanwhile, so each step is short.
 */
export function* warmUpResumeText(): Generator<undefined, void> {
  countTokens('The first count reads the table.')
  yield
  for (const turns of TURNS) {
    yield* resumeTextInSteps(sampleSession(turns))
    yield
  }
}
