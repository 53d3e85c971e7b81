import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../docs/decisions/', import.meta.url))
export const decisionsIndexPath = `${folder}README.md`

interface Decision {
  readonly file: string
  readonly date: string
  readonly title: string
  readonly status: string
}

/** @throws Error if a page does not begin like the template */
export function readDecision(file: string, text: string): Decision {
  const [, title, date, status] =
    /^# ([^\n]+)\n\n(\d{4}-\d\d-\d\d)\. ((?:Accepted|Proposed|Replaced|Since)[^\n]*)/.exec(text) ?? []
  if (title === undefined || date === undefined || status === undefined || !file.startsWith(`${date}-`)) {
    throw new Error(
      `docs/decisions/${file} must begin with "# Title", an empty line and "${file.slice(0, 10)}. Accepted."`,
    )
  }
  return { file, date, title, status }
}

/** The index of all decisions, the newest first. */
export function decisionsIndex(): string {
  const decisions = readdirSync(folder)
    .filter((file) => /^\d/.test(file))
    .map((file) => readDecision(file, readFileSync(folder + file, 'utf8')))
    .toSorted((one, other) => other.date.localeCompare(one.date) || one.title.localeCompare(other.title))
  const lines = decisions.map(({ file, date, title, status }) => {
    const accepted = status.startsWith('Accepted')
    return `| ${date} | [${title}](${file}) | ${accepted ? 'accepted' : status.startsWith('Proposed') ? 'proposed' : 'replaced'} |`
  })
  return `${HEAD}${lines.join('\n')}\n`
}

const HEAD = `# Decisions

Choices that are hard to reverse, one page each: the problem, the rule, its cost, and the alternatives. The content of a page
is not changed when a later page replaces it; its second line then names that page.

To add one, copy [the template](TEMPLATE.md) to \`YYYY-MM-DD-name.md\` and run \`npm run docs:decisions\`, which writes this page.

| date | decision | status |
| --- | --- | --- |
`
