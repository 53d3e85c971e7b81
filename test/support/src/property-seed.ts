import fc from 'fast-check'

/**
 * Seeds the properties: always the same seed, so that a failure comes from a change, and a random one with
 * `HEDDLE_PROPERTY_SEED=random`, to search for new cases. Each case that is found becomes a test of its own.
 */
const seed = process.env['HEDDLE_PROPERTY_SEED'] ?? '20261122'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
