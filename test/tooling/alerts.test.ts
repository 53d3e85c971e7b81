import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { anchorsOf } from './pages/anchors.js'
import { dashboardExpressions, readRules, watchedFolder } from './watching/watched.js'

const run = promisify(execFile)
const page = fileURLToPath(new URL('../../docs/operations.md', import.meta.url))
/** Debian's package `prometheus`; CI installs it. */
const hasPromtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
)
const withPromtool = test.skipIf(!hasPromtool)

const rules = await readRules()

interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
}

test('at most ten alerts, each with its runbook, a severity and a summary', async () => {
  expect(rules.length).toBeLessThanOrEqual(10)
  const anchors = anchorsOf(await readFile(page, 'utf8'))
  for (const { alert, labels, annotations } of rules) {
    const anchor = alert.toLowerCase()
    expect(annotations.runbook_url).toBe(`https://github.com/heddle/heddle/blob/main/docs/operations.md#${anchor}`)
    expect(anchors).toContain(anchor)
    expect(labels.severity).toMatch(/^(critical|warning)$/)
    expect(annotations.summary).not.toBe('')
  }
})

test('each alert is expected to fire in one test, and to be silent in another', async () => {
  const { tests } = parse(await readFile(`${watchedFolder}alerts.test.yaml`, 'utf8')) as { tests: RuleTest[] }
  const expected = tests.flatMap((each) => each.alert_rule_test)
  for (const { alert } of rules) {
    const ofAlert = expected.filter(({ alertname }) => alertname === alert)
    expect(new Set(ofAlert.map(({ exp_alerts }) => exp_alerts.length > 0)), alert).toEqual(new Set([true, false]))
  }
})

test('figures of the whole deployment, which every gateway exports, are never added up', async () => {
  const summed = String.raw`\b(?:sum|avg|count)\s*(?:(?:by|without)\s*\([^)]*\)\s*)?\(\s*`
  const figure = 'heddle_stage_(?:jobs|backlog|oldest_wait_seconds|workers|paused|dead_letters|jobs_per_second)\\b'
  const ofDeployment = new RegExp(summed + figure)
  const added = (expressions: readonly string[]) => expressions.filter((each) => ofDeployment.test(each))
  expect(added([...rules.map(({ expr }) => expr), ...(await dashboardExpressions())])).toEqual([])
  expect(
    added(['sum by (stage) (heddle_stage_backlog{stage="embed"})', 'max by (stage) (heddle_stage_backlog)']),
  ).toHaveLength(1)
})

withPromtool('promtool finds no fault in the rules, and their tests pass', async () => {
  await run('promtool', ['check', 'rules', 'alerts.yaml'], { cwd: watchedFolder })
  await run('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: watchedFolder })
})

withPromtool('promtool understands every expression of the dashboards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-dashboards-'))
  try {
    const expressions = await dashboardExpressions()
    const recorded = expressions.map((expr, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    // Every JSON document is a YAML one.
    await writeFile(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboards', rules: recorded }] }))
    await run('promtool', ['check', 'rules', 'rules.yaml'], { cwd: folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
