import type { Excerpts, Neighbour } from '@heddle/client/interface'
import { excerpt } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { type FoundRow, type HitPlace, type HitRow, type HitText, loadHitTexts } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'
import { momentsOf } from './moment-range.js'

/** Characters of all hits of a search together that are read for their excerpts. */
const CHARACTERS_MAX = 8_000_000
const CHARACTERS_OF_HIT_MAX = 200_000
const CHARACTERS_OF_NEIGHBOUR_MAX = 2_000

/** The texts of a hit, and the moments that they name: of its excerpt first. */
interface ShownHit {
  readonly excerpts: Excerpts
  readonly named: readonly number[]
}

/** The excerpts of some hits, in their order. */
export async function showHits(
  { store, projectId }: EngineContext,
  hits: readonly FoundRow<HitRow>[],
  terms: ReadonlySet<string>,
): Promise<ShownHit[]> {
  if (hits.length === 0) return []
  const places = hits.map(({ place }) => place)
  const charactersMax = Math.min(CHARACTERS_OF_HIT_MAX, Math.floor(CHARACTERS_MAX / hits.length))
  const [own, before, after] = await store.inProject(projectId, (tx) =>
    Promise.all([
      loadHitTexts(tx, { places, charactersMax }),
      loadHitTexts(tx, { places: beside(places, -1), charactersMax: CHARACTERS_OF_NEIGHBOUR_MAX }),
      loadHitTexts(tx, { places: beside(places, 1), charactersMax: CHARACTERS_OF_NEIGHBOUR_MAX }),
    ]),
  )
  const shown: ShownHit[] = []
  for (const [index, { row }] of hits.entries()) {
    const found = textAt(own, index)
    const whole = found === undefined ? '' : textOf(found)
    const text = await runCooperatively(excerpt(whole, terms))
    shown.push({
      excerpts: {
        text,
        before: await neighbour(textAt(before, index), terms),
        after: await neighbour(textAt(after, index), terms),
      },
      named: momentsOf(row, found?.content ?? '', text),
    })
  }
  return shown
}

function beside(places: readonly HitPlace[], distance: number): HitPlace[] {
  return places.map(({ threadId, seq }) => ({ threadId, seq: seq + distance }))
}

function textAt(texts: readonly HitText[], index: number): HitText | undefined {
  return texts.find(({ place }) => place === index)
}

async function neighbour(text: HitText | undefined, terms: ReadonlySet<string>): Promise<Neighbour | null> {
  if (text === undefined) return null
  const { messageId, role } = text
  return { messageId, role, text: await runCooperatively(excerpt(textOf(text), terms)) }
}

/** The text and the calls of a message. */
function textOf({ content, toolCalls }: HitText): string {
  const calls = toolCalls.map(({ name, arguments: given }) => {
    return `${name} ${typeof given === 'string' ? given : JSON.stringify(given)}`
  })
  return [content, ...calls].filter((text) => text !== '').join('\n')
}
