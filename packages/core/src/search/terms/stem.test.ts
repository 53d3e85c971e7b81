import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stem } from './stem.js'

/** The paper's examples, each under the step that it illustrates. */
test.each([
  ['plurals', 'caresses:caress ponies:poni ties:ti caress:caress cats:cat'],
  ['past and progress', 'feed:feed agreed:agre plastered:plaster bled:bled motoring:motor sing:sing'],
  ['what these leave', 'conflated:conflat troubled:troubl sized:size hopping:hop falling:fall filing:file'],
  ['y', 'happy:happi sky:sky'],
  ['double suffixes', 'relational:relat conditional:condit digitizer:digit conformabli:conform vietnamization:vietnam'],
  ['more of them', 'operator:oper feudalism:feudal decisiveness:decis sensitiviti:sensit sensibiliti:sensibl'],
  [
    'single suffixes',
    'triplicate:triplic formative:form formalize:formal electrical:electr hopeful:hope goodness:good',
  ],
  [
    'last suffixes',
    'revival:reviv inference:infer adjustable:adjust replacement:replac adoption:adopt effective:effect',
  ],
  ['e and ll', 'probate:probat rate:rate cease:ceas controll:control roll:roll'],
])('%s', (_step, pairs) => {
  for (const pair of pairs.split(' ')) {
    const [word = '', expected] = pair.split(':')
    expect(`${word}:${stem(word)}`).toBe(`${word}:${expected}`)
  }
})

test('words of one family share a stem', () => {
  const families = ['connect connected connecting connection connections', 'deploy deployed deploying deploys']
  for (const family of families) expect(new Set(family.split(' ').map(stem)).size).toBe(1)
})

test('a stem is at most one letter longer than its word, and never empty', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
      expect(stem(word).length).toBeGreaterThan(0)
      expect(stem(word).length).toBeLessThanOrEqual(word.length + 1)
    }),
  )
})
