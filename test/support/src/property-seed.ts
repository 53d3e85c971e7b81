import fc from 'fast-check'

/**
 * Seeds the properties: always alike, so that a change is judged by what it changed, and anew with
 * `HEDDLE_PROPERTY_SEED=random`, which is how new cases are looked for. What such a search finds becomes a case of its own.
 */
const seed = process.env['HEDDLE_PROPERTY_SEED'] ?? '20261122'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
