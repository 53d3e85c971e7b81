import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactSecrets } from './redact.js'

const from = (characters: string, minLength: number, maxLength = minLength + 40) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength })
const ALPHANUMERIC = 'abcdefghijkmnpqrsuvwyzABCDEFGHJKLMNPQRSTUVW0123456789'
const alphanumeric = (minLength: number) => from(ALPHANUMERIC, minLength)
const withDigit = (minLength: number) => alphanumeric(minLength).map((text) => `${text}7`)

/** A secret and its surroundings in a text, with random text between. */
const secrets = fc.oneof(
  withDigit(24).map((key) => ({ secret: `sk-${key}`, text: `sk-${key}` })),
  withDigit(24).map((key) => ({ secret: key, text: `sk-ant-api03-${key}` })),
  withDigit(36).map((key) => ({ secret: key, text: `ghp_${key}` })),
  withDigit(30).map((key) => ({ secret: key, text: `gsk_${key}` })),
  withDigit(35).map((key) => ({ secret: key, text: `AIza${key}` })),
  from('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 16, 16).map((key) => ({ secret: key, text: `AKIA${key}` })),
  withDigit(20).map((key) => ({ secret: key, text: `Authorization: Bearer ${key}` })),
  withDigit(20).map((key) => ({ secret: key, text: `"authorization":"Basic ${key}=="` })),
  withDigit(20).map((key) => ({ secret: key, text: `curl -H "X: bearer ${key}"` })),
  withDigit(8).map((key) => ({ secret: key, text: `postgres://app:${key}@db.internal:5432/app` })),
  withDigit(8).map((key) => ({ secret: key, text: `redis://:p@${key}@cache` })),
  withDigit(20).map((key) => ({ secret: key, text: `https://${key}@git.example.com/x.git` })),
  withDigit(8).map((key) => ({ secret: key, text: `DB_PASSWORD=${key}` })),
  withDigit(8).map((key) => ({ secret: key, text: `"dbPassword": "${key}"` })),
  withDigit(8).map((key) => ({ secret: key, text: String.raw`{\"client_secret\":\"${key}\"}` })),
  withDigit(8).map((key) => ({ secret: key, text: `mysql --password ${key}` })),
  withDigit(12).map((key) => ({ secret: key, text: `aws_secret_access_key = ${key}` })),
  fc.tuple(withDigit(12), withDigit(12), withDigit(20)).map(([head, body, sign]) => ({
    secret: sign,
    text: `eyJ${head}.eyJ${body}.${sign}`,
  })),
  fc.array(from(ALPHANUMERIC, 64, 64), { minLength: 2, maxLength: 6 }).map((lines) => ({
    secret: lines[1] ?? '',
    text: `-----BEGIN RSA PRIVATE KEY-----\n${lines.join('\n')}\n-----END RSA PRIVATE KEY-----`,
  })),
  fc.array(from(ALPHANUMERIC, 64, 64), { minLength: 2, maxLength: 6 }).map((lines) => ({
    secret: lines[1] ?? '',
    text: `-----BEGIN PRIVATE KEY-----\\n${lines.join('\\n')}`,
  })),
)
const prose = fc.array(fc.constantFrom('we', 'moved', 'the', 'deploy', 'to', 'Friday:', '(v2)', '\n', '-', 'x = y'))
const around = prose.map((words) => words.join(' '))

describe('redaction', () => {
  test('removes every kind of secret, anywhere in a text', () => {
    fc.assert(
      fc.property(around, secrets, around, (before, { secret, text }, after) => {
        const redacted = redactSecrets(`${before} ${text} ${after}`)
        expect(redacted).not.toContain(secret)
        expect(redacted).toContain('[redacted:')
      }),
      { numRuns: 2_000 },
    )
  })

  test('changes nothing when it is applied again', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            secrets.map(({ text }) => text),
            fc.string(),
            around,
          ),
        ),
        (parts) => {
          const once = redactSecrets(parts.join(' '))
          expect(redactSecrets(once)).toBe(once)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('leaves a text without secrets unchanged', () => {
    fc.assert(
      fc.property(around, (text) => {
        expect(redactSecrets(text)).toBe(text)
      }),
    )
    for (const text of [
      'The token count went from 12,000 to 8,000; max_tokens: 4096, tokens=20000000',
      'function login(password: string, token: Token): Promise<void>',
      'const password = readPassword()',
      'see https://example.com:8080/a/b?c=d@e and mail me@example.com',
      'task-management-with-many-parts, risk-assessment-2026-final-version',
      'the password of the demo is in the vault; bearer authentication is used',
    ]) {
      expect(redactSecrets(text)).toBe(text)
    }
  })

  test.each([
    ['mysql -h db -u root -pMYSQLPW1 shop', 'MYSQLPW1'],
    ['PGPASSWORD=PGPW1 psql -h db', 'PGPW1'],
    ['docker login --username me --password DOCKPW1 registry', 'DOCKPW1'],
    ['curl -s -u admin:CURLPW1 http://db/', 'CURLPW1'],
    ['sshpass -p SSHPW1 ssh host', 'SSHPW1'],
    ['aws configure set aws_secret_access_key wJalrXUtnFEMI', 'wJalrXUtnFEMI'],
    ['npm config set //registry.npmjs.org/:_authToken NPMTOK1abcdef', 'NPMTOK1abcdef'],
    ['curl "https://api.example.com/x?access_token=ACCTOK1"', 'ACCTOK1'],
    ['wget "https://s3.example.com/a?X-Amz-Signature=AMZSIG1&x=1"', 'AMZSIG1'],
  ])('of the command %s removes the secret alone', (command, secret) => {
    const redacted = redactSecrets(command)
    expect(redacted).toBe(command.replace(secret, '[redacted:secret]'))
    expect(redactSecrets(redacted)).toBe(redacted)
  })

  test.each([
    'docker run -u 1000:1000 image',
    'psql --password -h db',
    'docker login --password-stdin registry',
    'deploy --token $TOKEN --secret <SECRET>',
    'mysql -u root -p shop',
    'TOKEN=$(cat token) make',
    'mysql --port 3306 --protocol tcp shop',
  ])('leaves the command %s', (command) => {
    expect(redactSecrets(command)).toBe(command)
  })

  test('keeps the text around a secret readable', () => {
    expect(redactSecrets('connect to postgres://app:hunter2@db:5432/app now')).toBe(
      'connect to postgres://[redacted:credentials]@db:5432/app now',
    )
    expect(redactSecrets('export OPENAI_API_KEY=sk-abcdefghijklmnop1234 && run')).toBe(
      'export OPENAI_API_KEY=[redacted:api-key] && run',
    )
  })

  test('terminates quickly on adversarial texts', () => {
    for (const unit of [
      '-----BEGIN PRIVATE KEY-----',
      'a:',
      'password:',
      'https://a:',
      'eyJaaaaaaaaa.',
      'bearer ',
      '\\',
    ]) {
      const text = unit.repeat(Math.ceil(400_000 / unit.length))
      expect(redactSecrets(text).length).toBeGreaterThan(0)
    }
  })
})
