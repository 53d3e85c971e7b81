import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { getPriority } from 'node:os'
import { planImport, readRecordedSession } from '@heddle/cli'
import { backends, freshDatabase, freshPrefix, redisUrl } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeTinyModel } from '../../support/src/models/tiny-model.js'
import { type Home, isAlive, openDatabaseHome, openHome, type Running } from './cli-support.js'

describe('on a laptop without servers', () => {
  let home: Home
  let messages = 0

  beforeAll(async () => {
    home = await openHome()
    await writeFile(home.path('session.jsonl'), await readRecordedSession())
    const [planned] = await planImport(['session.jsonl'], { cwd: home.dir, project: 'default', format: 'auto' })
    messages = planned?.messages.length ?? 0
  })

  test('a session is imported, a context built and shown, and a condensed result recalled', async () => {
    const first = await home.heddle('import', 'session.jsonl', '--agent', 'coder', '--json')
    // A slow machine prints progress, and nothing else.
    expect(first.stderr.replace(/^\{"progress":.*\n/gm, '')).toBe('')
    expect(first.code).toBe(0)
    expect(first.document).toMatchObject({
      stored: messages,
      repeated: 0,
      settled: true,
      threads: [{ thread: 'session', format: 'claude-code', eligible: messages, imported: messages, keptAside: 0 }],
    })

    const again = await home.heddle('import', 'session.jsonl', '--agent', 'coder', '--json')
    expect(again.document).toMatchObject({ stored: 0, repeated: messages, threads: [{ imported: messages }] })

    const build = [
      'context',
      'build',
      '--agent',
      'coder',
      '--thread',
      'session',
      '--budget',
      '16000',
      '--fill',
      'cache',
      '--json',
    ]
    const built = await home.heddle(...build)
    expect(built.stderr).toBe('')
    const context = built.document
    expect(context.tokensUsed).toBeLessThanOrEqual(16_000)
    expect(context.receipt.eligible).toBe(messages)
    const accounted = context.receipt.entries.reduce((sum: number, entry: { count: number }) => sum + entry.count, 0)
    expect(accounted).toBe(messages)

    const [planned] = await planImport(['session.jsonl'], { cwd: home.dir, project: 'default', format: 'auto' })
    const originals = new Map(planned?.messages.map(({ id, content }) => [id, content]))
    const shortened = context.receipt.entries.find(
      ({ mode, role }: { mode: string; role: string }) =>
        role === 'tool_result' && ['condensed', 'stub'].includes(mode),
    )
    const recalled = await home.heddle('recall', shortened.reference, '--thread', 'session')
    expect(recalled.stdout).toBe(originals.get(shortened.messageId))

    const shown = await home.heddle('context', 'show', context.id, '--json')
    expect(shown.document).toEqual(context)
    const forPeople = await home.heddle('context', 'show', context.id, '--messages')
    expect(forPeople.stdout).toMatch(/section +messages +tokens/)
    expect(forPeople.stdout).toContain(`eligible ${messages} / imported ${messages}`)

    const explained = await home.heddle('context', 'explain', context.id)
    expect(explained.stdout).toMatch(/section +what +mode +tokens +verbatim +reason/)
    expect(explained.stdout).toContain(`${shortened.reference} tool_result`)
    expect(explained.stdout).toMatch(/not shown: \d+.* covered .* summarized/s)
    const receipt = await home.heddle('context', 'explain', context.id, '--json')
    expect(receipt.document.receipt).toEqual(context.receipt)
    const smaller = await home.heddle(...build, '--budget', '6000')
    const diff = await home.heddle('context', 'diff', context.id, smaller.document.id)
    expect(diff.stdout).toMatch(/tokens +before +after +change/)
    expect(diff.stdout).toMatch(/budget +16000 +6000/)
    expect(diff.stdout).toMatch(/(came in|went out|changed): \d+/)
  })

  test('two commands in one folder share its server, and the first waits for the second', async () => {
    const both = await Promise.all(
      [
        ['threads', 'list', '--json'],
        ['threads', 'show', 'session', '--json'],
        ['agents', 'list', '--json'],
      ].map((argv) => home.start(argv).ended),
    )
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(both[0]?.document.items).toMatchObject([{ name: 'session', agent: 'coder' }])
    expect(both[1]?.document).toMatchObject({ name: 'session', eligible: messages, imported: messages })
  })

  test('a command that is interrupted leaves no server behind', async () => {
    const running = home.start(['import', 'session.jsonl', '--agent', 'coder', '--thread', 'stopped', '--json'])
    await until(async () => (await serverPid(home)) !== null)
    const postgres = await serverPid(home)
    running.kill('SIGINT')
    const { code } = await running.ended
    expect([0, 130]).toContain(code)
    expect(postgres === null || !isAlive(postgres)).toBe(true)
  })
})

describe('beside "heddle up"', () => {
  let home: Home
  let up: Running
  let port: number

  beforeAll(async () => {
    home = await openHome()
    up = home.start(['up', '--port', '0', '--json'])
    const ready = JSON.parse(await up.firstLine)
    expect(ready).toMatchObject({ status: 'ready', mode: 'embedded', embedder: expect.any(String) })
    port = ready.port
    await writeFile(
      home.path('a.jsonl'),
      lines([
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'hi' },
      ]),
    )
    expect((await home.heddle('import', 'a.jsonl', '--agent', 'coder', '--json')).document.stored).toBe(2)
  })

  afterAll(async () => {
    up.kill('SIGTERM')
    const { code } = await up.ended
    expect(code).toBe(0)
    expect(isAlive(up.pid)).toBe(false)
  })

  test('its port answers liveness and readiness checks', async () => {
    expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toMatchObject({ status: 'ok', pid: up.pid })
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
  })

  test('a second one says that the first runs, and exits with 0', async () => {
    const second = await home.heddle('up', '--port', '0', '--json')
    expect(second.code).toBe(0)
    expect(second.document).toMatchObject({ status: 'already-running', pid: up.pid, port })
  })

  test('a port in use is an error that says what to do', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const taken = typeof address === 'object' && address !== null ? address.port : 0
    const other = await openHome()
    const ran = await other.heddle('up', '--port', String(taken), '--json')
    server.close()
    expect(ran.code).toBe(1)
    expect(ran.error).toMatchObject({ code: 'CONFLICT', field: 'port', hint: expect.stringContaining('--port') })
  })

  test('further workers join, and stop in order', async () => {
    const worker = home.start(['worker', 'all', '--concurrency', '2', '--json'])
    expect(JSON.parse(await worker.firstLine)).toMatchObject({ status: 'ready' })
    // They run at a lower priority than other processes of the machine, such as their own server.
    expect(getPriority(worker.pid)).toBe(10)
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test('the doctor finds no fault', async () => {
    const { code, document, stderr } = await home.heddle('doctor', '--json')
    expect(stderr).toBe('')
    expect(document).toMatchObject({ ok: true, failed: 0 })
    expect(code).toBe(0)
    const names = document.checks.map((check: { name: string }) => check.name)
    expect(names).toEqual(
      expect.arrayContaining([
        'configuration',
        'database',
        'migrations',
        'role',
        'connections',
        'queues',
        'workers',
        'dead letters',
        'embedder',
        'summarizer',
      ]),
    )
  })

  test('the doctor says which summarizer is used, and why', async () => {
    const summarizer = async (env: Record<string, string>) => {
      const { document } = await home.under(env).heddle('doctor', '--json')
      return document.checks.find((check: { name: string }) => check.name === 'summarizer')
    }
    const [none, fast, keyless] = await Promise.all([
      summarizer({}),
      summarizer({ CEREBRAS_API_KEY: 'key-of-a-test', ANTHROPIC_API_KEY: 'key-of-a-test' }),
      summarizer({ HEDDLE_SUMMARIZATION_PROVIDER: 'groq' }),
    ])
    expect(none).toMatchObject({ status: 'ok', detail: expect.stringContaining('extractive') })
    expect(fast).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/cerebras llama3\.1-8b.*CEREBRAS_API_KEY/),
    })
    expect(keyless).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('GROQ_API_KEY'),
      hint: expect.stringContaining('HEDDLE_SUMMARIZATION_PROVIDER'),
    })
    expect(JSON.stringify([none, fast, keyless])).not.toContain('key-of-a-test')
  })

  test('the doctor says which embedder is used, and how to change it', async () => {
    await writeTinyModel(home.path('models/test/damaged'))
    await writeFile(home.path('models/test/damaged/onnx/model_quantized.onnx'), 'nonsense')
    const embedder = async (env: Record<string, string>) => {
      const { document } = await home.under({ HEDDLE_MODELS: home.path('models'), ...env }).heddle('doctor', '--json')
      return document.checks.find((check: { name: string }) => check.name === 'embedder')
    }
    const [asked, none, missing, damaged] = await Promise.all([
      embedder({ HEDDLE_EMBEDDER: 'hashing' }),
      embedder({ HEDDLE_EMBEDDER: 'auto' }),
      embedder({ HEDDLE_EMBEDDER: 'local', HEDDLE_EMBEDDING_MODEL: 'test/missing' }),
      embedder({ HEDDLE_EMBEDDER: 'local', HEDDLE_EMBEDDING_MODEL: 'test/damaged' }),
    ])
    expect(asked).toMatchObject({ status: 'ok', detail: expect.stringContaining('heddle-hashing-384-v1') })
    expect(none).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/heddle-hashing-384-v1.*words only.*was not found/),
      hint: expect.stringContaining('heddle models pull'),
    })
    expect(missing).toMatchObject({ status: 'fail', detail: expect.stringContaining('test/missing was not found') })
    expect(damaged).toMatchObject({ status: 'fail', detail: expect.stringContaining('test/damaged') })
  })

  test('queues show the waiting jobs, and a paused stage is shown and resumed', async () => {
    const before = await home.heddle('queues', '--json')
    expect(before.document.stages).toHaveLength(6)
    expect(before.document.stages).toEqual(
      before.document.stages.map((stage: object) => expect.objectContaining({ ...stage, served: true })),
    )
    await home.heddle('queues', 'pause', '--stage', 'embed')
    expect((await home.heddle('queues', '--stage', 'embed', '--json')).document.stages).toMatchObject([
      { paused: true },
    ])
    await home.heddle('queues', 'resume', '--stage', 'embed')
    expect((await home.heddle('queues', '--stage', 'embed', '--json')).document.stages).toMatchObject([
      { paused: false },
    ])
    expect((await home.heddle('queues', 'redrive', '--json')).document).toEqual({ redriven: 0, refused: [] })
  })

  describe('bad input is a typed error that says what to do, and stores nothing', () => {
    let before: unknown
    const cases: [title: string, argv: string[], code: number, error: string][] = [
      ['an unknown format', ['import', 'a.jsonl', '--agent', 'coder', '--format', 'csv'], 2, 'VALIDATION_ERROR'],
      ['a broken line', ['import', 'broken.jsonl', '--agent', 'coder'], 1, 'VALIDATION_ERROR'],
      ['an empty file', ['import', 'empty.jsonl', '--agent', 'coder'], 1, 'VALIDATION_ERROR'],
      ['a file that is not there', ['import', 'absent.jsonl', '--agent', 'coder'], 1, 'NOT_FOUND'],
      ['a message of 5 MB', ['import', 'huge.jsonl', '--agent', 'coder'], 1, 'PAYLOAD_TOO_LARGE'],
      ['a thread of another agent', ['import', 'b.jsonl', '--thread', 'a', '--agent', 'other'], 1, 'CONFLICT'],
      ['an unknown thread', ['threads', 'show', 'nowhere'], 1, 'NOT_FOUND'],
      ['a context of an unknown thread', ['context', 'build', '--thread', 'nowhere'], 1, 'NOT_FOUND'],
      ['a budget of 0', ['context', 'build', '--thread', 'a', '--budget', '0'], 2, 'VALIDATION_ERROR'],
      ['an unknown context', ['context', 'show', '01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1'], 1, 'NOT_FOUND'],
      ['an unknown agent', ['agents', 'show', 'nobody'], 1, 'NOT_FOUND'],
      ['an unknown reference', ['recall', 'msg-zzzzzzzz', '--thread', 'a'], 1, 'NOT_FOUND'],
      ['a reference that is none', ['recall', 'zzzz', '--thread', 'a'], 1, 'VALIDATION_ERROR'],
    ]

    beforeAll(async () => {
      await writeFile(home.path('broken.jsonl'), `${lines([{ role: 'user', content: 'new' }])}{"role": "us\n`)
      await writeFile(home.path('empty.jsonl'), '')
      await writeFile(home.path('b.jsonl'), lines([{ role: 'user', content: 'of another agent' }]))
      await writeFile(home.path('huge.jsonl'), lines([{ role: 'user', content: 'x'.repeat(5_000_000) }]))
      // The message needs more than 50 tokens, however it is shortened.
      const long = Array.from({ length: 40 }, (_, index) => ({
        role: 'user',
        content: `request ${index}: ${'do this and that '.repeat(40)}`,
      }))
      await writeFile(home.path('long.jsonl'), lines(long))
      await home.heddle('import', 'long.jsonl', '--agent', 'coder')
      before = (await home.heddle('threads', 'list', '--json')).document
    })

    test.each(cases)('%s', async (_, argv, code, errorCode) => {
      const ran = await home.heddle(...argv, '--json')
      expect(ran.stdout).toBe('')
      expect(ran.error).toMatchObject({ code: errorCode, hint: expect.stringMatching(/\w/) })
      expect(ran.code).toBe(code)
    })

    test('and after all of them the store is unchanged', async () => {
      expect((await home.heddle('threads', 'list', '--json')).document).toEqual(before)
      expect((await home.heddle('agents', 'list', '--json')).document.items).toHaveLength(1)
    })

    test('a budget of 50', async () => {
      const ran = await home.heddle('context', 'build', '--thread', 'long', '--budget', '50', '--json')
      expect(ran.error).toMatchObject({ code: 'BUDGET_TOO_SMALL', hint: expect.stringMatching(/\w/) })
      expect(ran.code).toBe(1)
    })
  })
})

describe('with a Postgres of the user', () => {
  test('a database that is down leads to SERVICE_UNAVAILABLE with a hint', async () => {
    const home = await openHome({ DATABASE_URL: 'postgres://heddle:secret@127.0.0.1:1/heddle' })
    const ran = await home.heddle('threads', 'list', '--json')
    expect(ran.code).toBe(1)
    expect(ran.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', hint: expect.stringMatching(/\w/) })
    expect(ran.stderr).not.toContain('secret')

    const doctor = await home.heddle('doctor', '--json')
    expect(doctor.code).toBe(1)
    const database = doctor.document.checks.find((check: { name: string }) => check.name === 'database')
    expect(database).toMatchObject({ status: 'fail', hint: expect.stringMatching(/\w/) })
  })

  test('the doctor names the way around a pooler, without passwords', async () => {
    const home = await openHome({
      DATABASE_URL: 'postgres://heddle:secret@127.0.0.1:1/heddle',
      HEDDLE_DIRECT_DATABASE_URL: 'postgres://heddle:secret@127.0.0.1:2/heddle',
    })
    const { document, stdout } = await home.heddle('doctor', '--json')
    expect(document.checks[0].detail).toContain('127.0.0.1:1/heddle, without a pooler postgres://127.0.0.1:2/heddle')
    expect(stdout).not.toContain('secret')
  })

  test('a wrong password leads to UNAUTHORIZED and names DATABASE_URL', async () => {
    const database = await freshDatabase()
    const url = new URL(database.url)
    url.password = 'wrong'
    const home = await openHome({ DATABASE_URL: url.href })
    const ran = await home.heddle('threads', 'list', '--json')
    await database.drop()
    expect(ran.code).toBe(1)
    expect(ran.error).toMatchObject({ code: 'UNAUTHORIZED', hint: expect.stringContaining('DATABASE_URL') })
  })

  test('commands report a database without migrations until "heddle migrate" has run', async () => {
    const database = await freshDatabase()
    const home = await openHome({ DATABASE_URL: database.url })
    try {
      expect((await home.heddle('threads', 'list', '--json')).error).toMatchObject({
        hint: expect.stringContaining('migrate'),
      })
      expect((await home.heddle('doctor', '--json')).code).toBe(1)
      expect((await home.heddle('migrate', '--json')).document).toMatchObject({ upToDate: true })
      expect((await home.heddle('migrate', '--json')).document).toEqual({ applied: [], upToDate: true })
      expect((await home.heddle('threads', 'list', '--json')).document.items).toEqual([])
    } finally {
      await database.drop()
    }
  })

  describe.each(backends())('and queues on $title', ({ skip, kind }) => {
    test.skipIf(skip)('a command starts the workers that are missing, and uses those that run', async () => {
      const redis = { REDIS_URL: redisUrl() ?? '', HEDDLE_QUEUE_PREFIX: freshPrefix() }
      const home = await openDatabaseHome(kind === 'redis' ? redis : {})
      await writeFile(home.path('a.jsonl'), lines([{ role: 'user', content: 'hello' }]))
      await writeFile(home.path('b.jsonl'), lines([{ role: 'user', content: 'hello again' }]))
      const alone = await home.heddle('import', 'a.jsonl', '--agent', 'coder', '--json')
      expect(alone.stderr).toBe('')
      expect(alone.document).toMatchObject({ stored: 1, settled: true })

      const worker = home.start(['worker', 'all', '--json'])
      await worker.firstLine
      const served = await home.heddle('import', 'b.jsonl', '--agent', 'coder', '--json')
      // The running workers prune and summarize; this command did not wait for them.
      expect(served.document).toMatchObject({ stored: 1, settled: null })
      const built = await home.heddle('context', 'build', '--thread', 'b', '--budget', '1000', '--json')
      expect(built.document).toMatchObject({ thread: 'b', receipt: { eligible: 1 } })
      worker.kill('SIGTERM')
      expect((await worker.ended).code).toBe(0)
    })
  })
})

function lines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

async function serverPid(home: Home): Promise<number | null> {
  const text = await readFile(home.path('.heddle/server.json'), 'utf8').catch(() => '{}')
  const { pid } = JSON.parse(text) as { pid?: number | null }
  return pid ?? null
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}
