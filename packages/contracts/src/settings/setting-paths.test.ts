import { expect, test } from 'vitest'
import { readSetting, settingOrigins, withoutSetting, withSetting } from './setting-paths.js'

test('each setting names its source: the last layer that sets it, or a setting that it is derived from', () => {
  const rows = settingOrigins([
    { from: 'file', settings: { budget: 8_000, prune: { keepLastN: 4 }, search: { preset: 'aggressive' } } },
    { from: 'environment', settings: { budget: 8_000 } },
    { from: 'agent', settings: { search: { topN: 3 } } },
  ])
  const of = (name: string) => rows.find((row) => row.name === name)
  expect(of('budget')).toEqual({ name: 'budget', value: 8_000, from: 'environment', default: null })
  expect(of('prune.keepLastN')).toMatchObject({ value: 4, from: 'file', default: 10 })
  expect(of('prune.condenseAfterN')).toMatchObject({ from: null })
  expect(of('search.topK')).toMatchObject({ value: 50, from: 'file', default: 20 })
  expect(of('search.topN')).toMatchObject({ value: 3, from: 'agent' })
})

test('a setting is added at its path and removed with a group that becomes empty', () => {
  const settings = withSetting({ budget: 1 }, 'prune.keepLastN', 4)
  expect(settings).toEqual({ budget: 1, prune: { keepLastN: 4 } })
  expect(withoutSetting(settings, 'prune.keepLastN')).toEqual({ budget: 1 })
  expect(withoutSetting(settings, 'prune')).toEqual({ budget: 1 })
  expect(withoutSetting(settings, 'sandwich.preserveTop')).toEqual(settings)
  expect([readSetting('none'), readSetting('16000'), readSetting('tree'), readSetting('[1]')]).toEqual([
    null,
    16_000,
    'tree',
    [1],
  ])
})
