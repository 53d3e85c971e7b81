import { itemTypes, selectionPresets } from '../items/items.js'
import { defaultSettings, type PartialSettings, type Settings } from './settings.js'

/** Merges settings, later ones override earlier ones: defaults < file < environment < agent < request. */
export function mergeSettings(...layers: readonly PartialSettings[]): Settings {
  let merged: Settings = defaultSettings
  for (const layer of layers) {
    const {
      calibration,
      lossGate,
      prune,
      sandwich,
      slidingWindow,
      sections,
      tree,
      iterations,
      snapshots,
      tools,
      search,
      ...plain
    } = layer
    merged = {
      ...merged,
      ...withoutUndefined(plain),
      calibration: { ...merged.calibration, ...withoutUndefined(calibration ?? {}) },
      lossGate: { ...merged.lossGate, ...withoutUndefined(lossGate ?? {}) },
      prune: { ...merged.prune, ...withoutUndefined(prune ?? {}) },
      sandwich: { ...merged.sandwich, ...withoutUndefined(sandwich ?? {}) },
      slidingWindow: { ...merged.slidingWindow, ...withoutUndefined(slidingWindow ?? {}) },
      iterations: { ...merged.iterations, ...withoutUndefined(iterations ?? {}) },
      sections: {
        order: sections?.order ?? merged.sections.order,
        allocations: { ...merged.sections.allocations, ...withoutUndefined(sections?.allocations ?? {}) },
        ledger: { ...merged.sections.ledger, ...withoutUndefined(sections?.ledger ?? {}) },
        facts: { ...merged.sections.facts, ...withoutUndefined(sections?.facts ?? {}) },
      },
      tree: { ...merged.tree, ...withoutUndefined(tree ?? {}) },
      snapshots: { ...merged.snapshots, ...withoutUndefined(snapshots ?? {}) },
      // Rows of a later layer come first, because the first row that fits a call decides.
      tools: tools === undefined ? merged.tools : [...tools, ...merged.tools],
      search: {
        ...merged.search,
        ...(search?.preset !== undefined && selectionPresets[search.preset]),
        ...withoutUndefined(search ?? {}),
        words: { ...merged.search.words, ...withoutUndefined(search?.words ?? {}) },
        types: {
          ...merged.search.types,
          ...Object.fromEntries(
            itemTypes.flatMap((type) => {
              const own = search?.types?.[type]
              return own === undefined ? [] : [[type, { ...merged.search.types[type], ...withoutUndefined(own) }]]
            }),
          ),
        },
        memories: { ...merged.search.memories, ...withoutUndefined(search?.memories ?? {}) },
      },
    }
  }
  return merged
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

function withoutUndefined<T extends object>(value: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<Defined<T>>
}
