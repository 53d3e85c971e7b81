import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hooksFileSchema } from '../claude-code/hook-schemas.js'
import { pluginFolder as claudeFolder } from '../claude-code/run-hooks.js'
import { startAgent, startServer, status } from './hook-processes.js'
import { pluginFolder } from './run-hooks.js'

const script = `${pluginFolder}/hooks/send.sh`

/** A folder for `PATH` that has these programs alone. */
async function pathWith(...names: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-hooks-path-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of names) {
    const found =
      name === 'node'
        ? process.execPath
        : execFileSync('sh', ['-c', `command -v ${name}`])
            .toString()
            .trim()
    await symlink(found, join(folder, name))
  }
  return folder
}

async function startAgentWith(...names: readonly string[]) {
  const path = await pathWith('sh', 'cat', ...names)
  return { path, ...(await startAgent({ command: ['sh', script, 'codex'], path })) }
}

test('an event that is answered starts no process of Node, and its answer is printed as it came', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl')]
  const systemMessage = 'two\nlines of "Grüße"\n'
  server.answers((response) => response.end(JSON.stringify({ systemMessage })))
  const long = `${'it\'s \\ "quoted" $HOME `x` %s\n'.repeat(50_000)}☃`
  expect(await agent.prompt(long, server.url, 'a-key')).toBe(systemMessage)
  server.answers((response) => response.end('{}'))
  expect(await agent.prompt('second', server.url)).toBeNull()
  expect(server.prompts()).toEqual([long, 'second'])
  expect(server.sent.map(({ key }) => key)).toEqual(['a-key', undefined])
})

test('the state of another session does not matter', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl')]
  const destination = join(agent.folder, 'd')
  await mkdir(destination)
  await writeFile(join(destination, 'another.json'), JSON.stringify({ sinceMs: 1, triedMs: 1 }))
  await agent.prompt('first', server.url)
  expect(server.prompts()).toEqual(['first'])
})

test('what was kept is sent first, and a refusal is said once', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl', 'node')]
  server.answers(status(503))
  expect(await agent.prompt('first', server.url)).toContain('did not answer')
  expect(await agent.prompt('second', server.url)).toBeNull()
  await agent.isDue()
  server.answers((response) => response.end('{}'))
  server.sent.length = 0
  expect(await agent.prompt('third', server.url)).toBeNull()
  expect(server.prompts()).toEqual(['first', 'second', 'third'])
  expect(await agent.files()).toEqual([])
  server.answers(status(403))
  expect(await agent.prompt('fourth', server.url)).toContain('refused an event of this session: 403')
  expect(await agent.prompt('fifth', server.url)).toBeNull()
})

test('a gateway that never answers leaves time for keeping the words', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl', 'node')]
  server.answers(() => {})
  const startedMs = performance.now()
  expect(await agent.prompt('first', server.url)).toContain('did not answer')
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  const [kept = ''] = (await agent.files()).filter((path) => path.endsWith('.jsonl'))
  expect(await readFile(kept, 'utf8')).toContain('first')
})

test('an answer that breaks off is not printed, and the words are kept', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl', 'node')]
  server.answers((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"systemMessage":"half')
    response.socket?.destroySoon()
  })
  expect(await agent.prompt('first', server.url)).toContain('did not answer')
  const [kept = ''] = (await agent.files()).filter((path) => path.endsWith('.jsonl'))
  expect(await readFile(kept, 'utf8')).toContain('first')
})

test('a long event in which the session comes last takes no time', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('curl')]
  const child = agent.start({}, server.url, '', `{"prompt":"${'x'.repeat(200_000)}","session_id":"s"}`)
  const startedMs = performance.now()
  await once(child, 'close')
  expect(performance.now() - startedMs).toBeLessThan(2_000)
  expect(server.sent).toHaveLength(1)
})

test('an address with a password goes to no argument, and one without a scheme is refused', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('node')]
  await writeFile(join(agent.path, 'curl'), `#!/bin/sh\nprintf '%s\\n' "$@" > ${join(agent.path, 'given')}\n`)
  await chmod(join(agent.path, 'curl'), 0o755)
  await agent.prompt('first', server.url.replace('//', '//user:secret@'))
  expect(server.prompts()).toEqual(['first'])
  expect(await agent.prompt('second', server.url.replace('http://', ''))).toContain('HEDDLE_URL')
  await expect(readFile(join(agent.path, 'given'))).rejects.toThrow('ENOENT')
})

test('without curl, events are sent by Node', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('node')]
  expect(await agent.prompt('first', server.url)).toBeNull()
  expect(server.prompts()).toEqual(['first'])
})

test('no argument of a process holds the key', async () => {
  const [server, agent] = [await startServer(), await startAgentWith('node')]
  const given = join(agent.path, 'given')
  const curl = execFileSync('sh', ['-c', 'command -v curl']).toString().trim()
  await writeFile(join(agent.path, 'curl'), `#!/bin/sh\nprintf '%s\\n' "$@" > ${given}\nexec ${curl} "$@"\n`)
  await chmod(join(agent.path, 'curl'), 0o755)
  await agent.prompt('first', server.url, 'a-secret')
  expect(server.sent.map(({ key }) => key)).toEqual(['a-secret'])
  expect(await readFile(given, 'utf8')).not.toContain('a-secret')
})

test('where there is no sh, the line of a hook of Claude Code starts Node itself', async () => {
  const { hooks } = hooksFileSchema.parse(JSON.parse(await readFile(`${claudeFolder}/hooks/hooks.json`, 'utf8')))
  const hook = hooks.Stop?.[0]?.hooks[0]
  const line = hook?.type === 'command' ? hook.command.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, claudeFolder) : ''
  const [server, path] = [await startServer(), await pathWith('node')]
  const agent = await startAgent({ command: ['/bin/sh', '-c', `exec 2>/dev/null; ${line}`], path })
  await agent.prompt('first', server.url)
  expect(server.prompts()).toEqual(['first'])
})
