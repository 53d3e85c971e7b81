import { limits, parseRecallCall, recallTool } from '@heddle/contracts'
import { agentIdOf, formatReference, projectIdOf, threadIdOf } from '@heddle/core'
import {
  acceptGrant,
  clearAgent,
  findArchiveEntry,
  findThreads,
  offerGrant,
  openStore,
  revokeGrant,
} from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { append, appendOne, freshStore, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'
import { type Archived, archive, clientOn, PROJECT_NAME } from './support.js'

let database: TestStore
let file: Archived
const projectId = projectIdOf(PROJECT_NAME)
const content = Array.from({ length: 300 }, (_, index) => `line ${index + 1} of the file`).join('\n')

beforeAll(async () => {
  database = await freshStore()
  file = await archive(database, content)
})
afterAll(() => database.drop())

const client = () => clientOn(database)
const recalled = (ref: string, fields: object = {}) => client().recall({ ref, thread: 'cloth', ...fields })
const threadCode = async (thread: string, project = projectId) => {
  const threadId = threadIdOf(project, thread)
  const [found] = await database.store.inProject(project, (tx) => findThreads(tx, { threadId, codePrefix: '' }))
  return found?.code ?? ''
}

describe('a reference', () => {
  it('is resolved in every form and recalls the full content', async () => {
    const code = await threadCode('cloth')
    const full = formatReference({ project: PROJECT_NAME, thread: code, message: file.code })
    const forms = [
      file.ref,
      `[recall:${file.ref}]`,
      `nexora://_/current/${file.ref}`,
      full,
      formatReference({ project: null, thread: 'cloth', message: file.code }),
      formatReference({ project: null, thread: file.threadId, message: file.code }),
      formatReference({ project: null, thread: code.slice(0, 6), message: file.code.slice(0, 6) }),
    ]
    for (const form of forms) {
      expect(await recalled(form, { maxTokens: 10_000 })).toEqual({
        ref: full,
        thread: 'cloth',
        messageId: file.messageId,
        contentType: 'file_view',
        summary: '3 lines: alpha',
        content,
        filePaths: ['src/a.ts'],
        tokenCount: expect.any(Number),
        truncated: false,
        linesTotal: 300,
        nextOffset: null,
        matchCount: null,
      })
    }
  })

  it('returns the lines, the match or the call that it names', async () => {
    expect((await recalled(`${file.ref}:L10-11`)).content).toBe('line 10 of the file\nline 11 of the file')
    expect((await recalled(`${file.ref}:match-3`)).content).toBe('line 3 of the file')
    expect((await recalled(`${file.ref}:match-2`, { search: 'LINE 20' })).content).toBe('line 200 of the file')
    const toolCalls = [
      { id: 'a', name: 'Read', arguments: { file_path: 'src/a.ts' } },
      { id: 'b', name: 'Bash', arguments: '{"command":"ls"}' },
    ]
    const message = prepared({ role: 'assistant', content: 'both', toolCalls })
    const calls = await archive(database, 'both', { message })
    expect(JSON.parse((await recalled(`${calls.ref}:tool-2`)).content)).toEqual(toolCalls[1])
    await expect(recalled(`${calls.ref}:tool-3`)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(recalled(`${file.ref}:match-301`)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('keeps its meaning when its agent is cleared, and when a thread is named like a code', async () => {
    const code = await threadCode('cloth')
    const full = formatReference({ project: null, thread: code, message: file.code })
    await appendOne(database.store, append([prepared()], { thread: code }), projectId)
    const clearedAtMs = RECEIVED_AT_MS + 1_000
    await database.store.inProject(projectId, (tx) =>
      clearAgent(tx, { agentId: agentIdOf(projectId, 'weaver'), clearedAtMs }),
    )
    expect((await recalled(full)).messageId).toBe(file.messageId)
    // In the place of the current thread it is a name.
    await expect(client().recall({ ref: file.ref, thread: code })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('to a message that was never condensed returns the message', async () => {
    const message = prepared({ content: 'said as it was' })
    await appendOne(database.store, append([message]), projectId)
    const code = await database.store.inProject(projectId, async (tx) => {
      const [row] = await tx<{ code: string }[]>`select code from heddle.messages where id = ${message.input.id}`
      return row?.code ?? ''
    })
    expect(await recalled(`msg-${code}`)).toMatchObject({ content: 'said as it was', contentType: 'user', summary: '' })
  })

  it('that matches several messages names them', async () => {
    const { threadId } = await appendOne(
      database.store,
      append(
        Array.from({ length: 40 }, () => prepared()),
        { thread: 'crowded' },
      ),
      projectId,
    )
    const codes = await database.store.inProject(projectId, async (tx) => {
      const rows = await tx<{ code: string }[]>`select code from heddle.messages where thread_id = ${threadId}`
      return rows.map(({ code }) => code)
    })
    // Among 40 codes, some two have the same prefix.
    const shared = codes.map((code) => code.slice(0, 1)).find((start, index, all) => all.indexOf(start) !== index) ?? ''
    const fault = client().recall({ ref: `msg-${shared}`, thread: 'crowded' })
    await expect(fault).rejects.toMatchObject({
      code: 'AMBIGUOUS_REFERENCE',
      field: 'message',
      facts: { candidates: expect.arrayContaining([expect.stringMatching(`^msg-${shared}`)]) },
    })
  })
})

describe('a reference without a thread', () => {
  it('is found in the only thread of the project that has its message', async () => {
    expect(await client().recall({ ref: `[recall:${file.ref}:L2]` })).toMatchObject({
      thread: 'cloth',
      messageId: file.messageId,
      content: 'line 2 of the file',
    })
    await expect(client().recall({ ref: 'msg-00000000' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('no thread of the project'),
    })
    // A thread that was named is the only one searched.
    const elsewhere = client().recall({ ref: 'msg-00000000', thread: 'cloth' })
    await expect(elsewhere).rejects.toMatchObject({ hint: expect.stringContaining('thread "cloth"') })
  })

  it('that several threads have is refused with a full reference for each, and these are accepted', async () => {
    const message = prepared({ content: 'said in two threads' })
    const { ref } = await archive(database, 'said in two threads', { message, thread: 'warp' })
    await archive(database, 'said in two threads', { message, thread: 'weft' })
    const fault = await client()
      .recall({ ref })
      .catch((error: unknown) => error as { facts: { candidates: string[] } })
    expect(fault).toMatchObject({ code: 'AMBIGUOUS_REFERENCE', field: 'ref', received: ref })
    const { candidates } = (fault as { facts: { candidates: string[] } }).facts
    expect(candidates.toSorted()).toEqual(
      ['warp', 'weft'].map((thread) => `nexora://${encodeURIComponent(PROJECT_NAME)}/${thread}/${ref}`),
    )
    for (const candidate of candidates)
      expect(await client().recall({ ref: candidate })).toMatchObject({ messageId: message.input.id })
    expect(await client().recall({ ref, thread: 'weft' })).toMatchObject({ thread: 'weft' })
  })

  it('of another project stays out of reach', async () => {
    const other = clientOn(database, 'recall of others')
    await archive(database, 'a secret', { project: 'recall of others', thread: 'own' })
    await expect(other.recall({ ref: file.ref })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a recall', () => {
  it('of content larger than an answer returns the first piece, and the others by their offsets', async () => {
    const large = 'a😀b'.repeat(1_100_000)
    const toolCalls = [{ id: 'large', name: 'Write', arguments: { text: large } }]
    const calls = await archive(database, 'large', {
      message: prepared({ role: 'assistant', content: 'large', toolCalls }),
    })
    const ref = `${calls.ref}:tool-1`
    const { content: first, nextOffset, truncated } = await recalled(ref, { maxTokens: 20_000_000 })
    expect([first.length <= limits.recallCharactersMax, nextOffset, truncated]).toEqual([true, first.length, true])
    const pieces = [first]
    for (let offset = nextOffset; offset !== null; ) {
      const piece = await recalled(ref, { offset, limit: 300_000 })
      expect([piece.content.length <= 300_000, piece.truncated]).toEqual([true, piece.nextOffset !== null])
      pieces.push(piece.content)
      offset = piece.nextOffset
    }
    expect(JSON.parse(pieces.join('')).arguments.text === large).toBe(true)
  })

  it.each([{ lines: '1-2' }, { search: 'x' }, { maxTokens: 10 }])(
    'in pieces cannot be combined with %j',
    async (fields) => {
      const fault = recalled(file.ref, { ...fields, offset: 5 })
      await expect(fault).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: Object.keys(fields)[0] })
    },
  )

  it('in pieces returns exactly the requested characters', async () => {
    const piece = await recalled(file.ref, { offset: 5, limit: 13 })
    expect(piece).toMatchObject({ content: content.slice(5, 18), nextOffset: 18, truncated: true, linesTotal: 300 })
    await expect(recalled(`${file.ref}:L2-3`, { limit: 5 })).rejects.toMatchObject({ field: 'ref' })
  })

  it('with a token limit says what is left, and a request for the rest completes the content', async () => {
    let lines: string | undefined
    let text = ''
    for (let round = 0; round < 50; round++) {
      const part = await recalled(file.ref, { maxTokens: 300, ...(lines && { lines }) })
      expect(part.tokenCount).toBeLessThanOrEqual(300)
      const [, kept = part.content, next] = /^([\s\S]*)\n\[truncated: .*ask for lines (\S+)\]$/.exec(part.content) ?? []
      text += (text === '' ? '' : '\n') + kept
      expect(part.truncated).toBe(next !== undefined)
      if (next === undefined) break
      lines = next
    }
    expect(text).toBe(content)
  })

  it('searches only the requested lines, and reports when nothing matches', async () => {
    expect(await recalled(file.ref, { lines: '100-120', search: 'LINE 11' })).toMatchObject({
      content: Array.from({ length: 10 }, (_, index) => `${110 + index}: line ${110 + index} of the file`).join('\n'),
      matchCount: 10,
    })
    expect(await recalled(file.ref, { search: '(a+)+$' })).toMatchObject({
      content: '',
      tokenCount: 0,
      truncated: false,
      matchCount: 0,
    })
  })

  it('is counted, in a batch with others, when the store closes', async () => {
    const own = await freshStore()
    try {
      const { threadId, messageId, ref } = await archive(own, 'counted')
      const accesses = async () => {
        const entry = await own.store.inProject(projectId, (tx) => findArchiveEntry(tx, { threadId, messageId }))
        return entry?.accessCount
      }
      const reader = openStore({ url: own.url })
      for (let time = 0; time < 3; time++) await clientOn({ store: reader }).recall({ ref, thread: 'cloth' })
      expect(await accesses()).toBe(0)
      await reader.close()
      expect(await accesses()).toBe(3)
    } finally {
      await own.drop()
    }
  })

  it('is counted within about a second, so a process that is killed loses no more than the last one', async () => {
    const own = await freshStore()
    // Never closed before the counts are read, as by a process that is killed.
    const reader = openStore({ url: own.url })
    try {
      const { threadId, messageId, ref } = await archive(own, 'counted')
      for (let time = 0; time < 3; time++) await clientOn({ store: reader }).recall({ ref, thread: 'cloth' })
      const entry = () => own.store.inProject(projectId, (tx) => findArchiveEntry(tx, { threadId, messageId }))
      await expect.poll(async () => (await entry())?.accessCount, { timeout: 10_000 }).toBe(3)
      expect((await entry())?.lastAccessedAtMs).toBeGreaterThan(0)
    } finally {
      await reader.close()
      await own.drop()
    }
  })

  test.each([
    [{ ref: 'nonsense' }, 'VALIDATION_ERROR', 'ref'],
    [{ ref: 'msg-zzzzzzzz' }, 'NOT_FOUND', 'message'],
    [{ ref: 'nexora://_/nowhere/msg-zzzzzzzz' }, 'NOT_FOUND', 'thread'],
    [{ ref: 'nexora://_/no%00where/msg-zzzzzzzz' }, 'NOT_FOUND', 'thread'],
    [{ ref: 'nexora://elsewhere/x/msg-zzzzzzzz' }, 'FORBIDDEN', 'ref'],
    [{ ref: 'nexora://elsewhere/current/msg-zzzzzzzz' }, 'VALIDATION_ERROR', 'thread'],
    [{ lines: '0-0' }, 'VALIDATION_ERROR', 'lines'],
    [{ lines: '50-10' }, 'VALIDATION_ERROR', 'lines'],
    [{ lines: '1-9000000000000000' }, 'VALIDATION_ERROR', 'lines'],
    [{ lines: '301' }, 'VALIDATION_ERROR', 'lines'],
    [{ maxTokens: 0 }, 'VALIDATION_ERROR', 'maxTokens'],
    [{ maxTokens: Number.NaN }, 'VALIDATION_ERROR', 'maxTokens'],
    [{ search: '' }, 'VALIDATION_ERROR', 'search'],
    [{ search: 'x'.repeat(5_000) }, 'PAYLOAD_TOO_LARGE', 'search'],
    [{ pattern: 'x' }, 'VALIDATION_ERROR', 'pattern'],
  ])('refuses %j with %s', async (fields, code, field) => {
    await expect(recalled(file.ref, fields)).rejects.toMatchObject({ code, field })
  })

  it('answers a call that a model made from the tool', async () => {
    const fromOpenAi = { id: 'call-1', function: { name: recallTool.openai.function.name, arguments: '' } }
    fromOpenAi.function.arguments = JSON.stringify({ ref: `[recall:${file.ref}]`, lines: '7', maxTokens: null })
    const fromAnthropic = { name: recallTool.anthropic.name, input: { ref: file.ref, search: 'line 7 ' } }
    const answers = [fromOpenAi.function.arguments, fromAnthropic.input].map((given) =>
      client().recall({ ...parseRecallCall(given), thread: 'cloth' }),
    )
    expect((await Promise.all(answers)).map((answer) => answer.content)).toEqual([
      'line 7 of the file',
      '7: line 7 of the file',
    ])
  })
})

describe('another project', () => {
  const other = 'recall tests next door'

  it('is readable while both sides agree, and not mentioned otherwise', async () => {
    const theirs = await archive(database, 'theirs', { project: other, thread: 'secret' })
    const ref = formatReference({ project: other, thread: 'secret', message: theirs.code })
    const inOther = <T>(work: Parameters<typeof database.store.inProject<T>>[1]) =>
      database.store.inProject(projectIdOf(other), work)
    const grant = { granteeProjectId: projectId, scope: 'recall' } as const
    const refusal = (name: string) =>
      client()
        .recall({ ref: ref.replace(encodeURIComponent(other), name) })
        .catch((error: Error) => error)
    const asIfNowhere = async () => {
      const known = (await refusal(encodeURIComponent(other))) as Error
      const unknown = (await refusal('no-such-project')) as Error
      expect(known).toMatchObject({ code: 'FORBIDDEN' })
      expect(known.message.replace(other, 'no-such-project')).toBe(unknown.message)
    }
    await asIfNowhere()
    await expect(inOther((tx) => acceptGrant(tx, grant))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await inOther((tx) => offerGrant(tx, grant))
    await asIfNowhere()
    await inOther((tx) => acceptGrant(tx, grant))
    expect(await client().recall({ ref })).toMatchObject({ content: 'theirs', ref: expect.stringContaining('next') })
    // It is not a grant in the other direction.
    const back = formatReference({ project: PROJECT_NAME, thread: 'cloth', message: file.code })
    await expect(clientOn(database, other).recall({ ref: back })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await inOther((tx) => revokeGrant(tx, grant))
    await asIfNowhere()
    await inOther((tx) => offerGrant(tx, grant))
    await asIfNowhere()
  })
})
