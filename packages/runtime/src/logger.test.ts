import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLogger } from './logger.js'

function capture() {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { lines, log: createLogger({ level: 'debug', name: 'test', destination }) }
}

describe('createLogger', () => {
  it('keeps user texts and secrets out of the log', () => {
    const { lines, log } = capture()
    log.info(
      { content: 'private words', job: { prompt: 'private words', password: 'hunter2' }, threadId: 't1' },
      'stored',
    )
    expect(lines.join()).not.toMatch(/private words|hunter2/)
    expect(lines.join()).toContain('t1')
  })

  it('removes credentials from URLs and from errors with their causes', () => {
    const { lines, log } = capture()
    const cause = new Error('connect redis://:hunter2@cache:6379 failed')
    log.error({ databaseUrl: 'postgres://me:hun@ter2@db/x', error: new Error('no store', { cause }) }, 'failed')
    expect(lines.join()).not.toMatch(/hunter2|ter2/)
    expect(lines.join()).toContain('postgres://db/x')
    expect(lines.join()).toContain('redis://cache:6379')
  })
})
