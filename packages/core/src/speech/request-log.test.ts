import { describe, expect, test } from 'vitest'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { requestedPlanIn } from './requested-plan.js'
import type { SummarySource } from './source.js'
import { substanceOf } from './substance.js'

const said = (text: string, more: Partial<SummarySource> = {}): SummarySource => ({
  ...{ reference: '', role: 'user', text, toolName: null, isError: false, pinned: false, orderedAtMs: 0 },
  ...more,
})
/** Requests, each followed by a call, so that the conversation is not mere talk. */
function goalOf(texts: readonly string[], previousSummary: string | null = null): string[] {
  const worked = {
    role: 'assistant',
    toolName: 'Bash',
    calls: [{ id: '1', name: 'Bash', arguments: { command: 'ls' } }],
  } as const
  const messages = texts.flatMap((text) => [said(text), said('', worked)])
  const summary = summarizeExtractively({ purpose: 'compaction', messages, previousSummary, tokensMax: 1_500 })
  return /## Goal\n((?:- .*\n?)*)/.exec(summary)?.[1]?.trim().split('\n') ?? []
}

const PLAN = `Implement the following plan:

# Plan: Weave twill

## Goal
Let the loom weave twill by:
1. Adding a shaft
2. Lifting two at a time

## Steps

### 1. The shaft
- Must add \`shaftCount\` to \`loom.ts\` instead of \`shafts\`
### 2. The lift
- Lift two

If you need specific details from before exiting plan mode, read the full transcript at: /tmp/loom.jsonl`

describe('the goal', () => {
  test('is the last request that is understood by itself, with the previous one and the follow-up', () => {
    expect(
      goalOf([
        'Make the loom weave twill, please',
        'The shaft is stuck after the warp, can you fix that?',
        'commit this',
      ]),
    ).toEqual([
      '- The shaft is stuck after the warp, can you fix that?',
      '- Before it: Make the loom weave twill, please',
      '- Then: commit this',
    ])
  })

  test('includes the first request of the conversation', () => {
    const texts = [
      'Make the loom weave twill',
      'Rename the green frame of the loom',
      'Move the loom to the second floor',
    ]
    expect(goalOf(texts)).toContain('- Began with: Make the loom weave twill')
  })

  test('is no answer, no path and no thanks', () => {
    const rest = ['1 and 2', '-', 'yes', '/home/ada/.loom/transcript.jsonl', 'go on', 'push it', 'thank you so much!']
    expect(goalOf(['Make the loom weave twill', ...rest])).toEqual(['- Make the loom weave twill', '- Then: push it'])
  })

  test('of a plan is its title and its aim, and its items are not requests', () => {
    const summary = summarizeExtractively({
      ...{ purpose: 'compaction', previousSummary: null, tokensMax: 1_500 },
      messages: [said(PLAN), said('Done.', { role: 'assistant' })],
    })
    expect(summary).toContain(
      '## Goal\n- Implement the plan “Weave twill”: Let the loom weave twill by: Adding a shaft; Lifting two at a time\n',
    )
    const requests = summary.slice(summary.indexOf('## Requests'), summary.indexOf('## Decisions'))
    expect(requests.trim().split('\n')).toEqual([
      '## Requests and requirements',
      '- Parts of the plan: The shaft; The lift',
    ])
    expect(summary).not.toContain('transcript')
  })

  test('is carried on from summary to summary until a new one comes', () => {
    const earlier = '## Goal\n- Make the loom weave twill\n- Before it: Paint the loom\n- Then: use the green one'
    expect(goalOf(['go on'], earlier)).toEqual([
      '- Make the loom weave twill',
      '- Before it: Paint the loom',
      '- Then: go on',
    ])
    expect(goalOf(['Move the loom to the second floor'], earlier)).toEqual([
      '- Move the loom to the second floor',
      '- Before it: Make the loom weave twill',
      '- Began with: Paint the loom',
    ])
  })

  test('of concatenated parts is that of the last', () => {
    const parts = '## Goal\n- Paint the loom\n\n## Files\n- loom.ts: read\n\n## Goal\n- Make the loom weave twill'
    expect(goalOf(['go on'], parts).slice(0, 2)).toEqual(['- Make the loom weave twill', '- Before it: Paint the loom'])
  })

  test('has the error in a pasted text, and nothing else of it', () => {
    const pasted = 'we are seeing:\n```\nwarping\nfatal: the shaft is stuck\nwarped\n```\nany way to retry it?'
    expect(goalOf([pasted])).toEqual(['- we are seeing: (fatal: the shaft is stuck) any way to retry it?'])
  })
})

test.each([
  ['task', 'our loom is broken, why?'],
  ['task', 'okay, let us see: please add a second shaft to the loom frame'],
  ['task', 'why is lint failing on the build?'],
  ['question', 'does the loom write to the second shaft by default?'],
  ['follow-up', 'yes, do option 1'],
  ['follow-up', 'which one?'],
  ['follow-up', 'commit this, then go on with the other bit'],
  ['follow-up', 'that was a while back'],
  ['follow-up', 'sorry, I should have said that this error is of the second loom'],
  ['follow-up', 'https://example.com/loom/shaft/failing?add=please'],
  ['courtesy', 'Thank you so much for your help!'],
  ['courtesy', 'ok great 👍'],
])('%s: %s', (substance, words) => {
  expect(substanceOf(words)).toBe(substance)
})

test('a request that only mentions a plan does not contain one', () => {
  expect(requestedPlanIn('Can you follow the plan and tell me what is left?')).toBeNull()
  expect(requestedPlanIn('Implement the following plan:\n\n')).toBeNull()
})

test('weighing words takes linear time', () => {
  for (const unit of ['good ', 'hmm ', 'please ', 'a.b.c ', "don't ", '/a/b ', 'how ']) {
    expect(typeof substanceOf(unit.repeat(200_000))).toBe('string')
  }
})
