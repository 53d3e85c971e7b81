import { posix } from 'node:path'
import { type Requirement, type RequirementText, root, rowsOf, splitTest } from './read.js'

export const requirementsPagePath = `${root}docs/requirements.md`

/** The page with one row for each requirement. */
export function requirementsPage(texts: readonly RequirementText[]): string {
  const summary = texts.map((text) => {
    const rows = rowsOf(text)
    const count = (has: (row: Requirement) => boolean) => rows.filter(has).length
    return `| [${text.number}](#${anchor(text)}) | ${text.title} | ${rows.length} | ${count(({ tests }) => tests !== undefined)} | ${count(({ decision }) => decision !== undefined)} | ${count(({ open }) => open !== undefined)} |`
  })
  return `${INTRODUCTION}${summary.join('\n')}\n\n${texts.map(section).join('\n')}`
}

function section(text: RequirementText): string {
  const parts = text.parts.map(
    ({ part, rows }) => `### ${text.number}: ${part}\n\n${HEAD}${rows.map(line).join('\n')}\n`,
  )
  return `## ${text.number}: ${text.title}\n\n${text.about} Source: [${posix.basename(text.path)}](${text.path.slice('docs/'.length)}).\n\n${parts.join('\n')}`
}

function line({ id, says, tests = [], decision, open }: Requirement): string {
  const cells = [
    ...tests.map((test) => {
      const { path, title } = splitTest(test)
      return `${code(path)}: ${plain(title.replaceAll(' > ', ' › '))}`
    }),
    ...(decision === undefined
      ? []
      : [`decided: [${posix.basename(decision, '.md')}](${decision.slice('docs/'.length)})`]),
    ...(open === undefined ? [] : [`**open**: ${plain(open)}`]),
  ]
  return `| <a id="${id}"></a>${id} | ${plain(says)} | ${cells.join('<br>')} |`
}

/** A text without characters that mean something in a table of Markdown or in a page of the site. */
function plain(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((piece, index) => (index % 2 === 1 ? piece.replaceAll('|', '\\|') : withoutMarks(piece)))
    .join('')
}

const withoutMarks = (text: string): string =>
  text.replace(/[<>|*_{}[\]\\$]/g, (character) => `&#${character.charCodeAt(0)};`)

const code = (text: string): string => `\`${text}\``

/** As GitHub makes it of the heading. */
function anchor({ number, title }: RequirementText): string {
  return `${number}-${title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')}`
}

const INTRODUCTION = `# Requirements

Heddle unites five descriptions of systems that manage contexts. This page has one row for each of their requirements, in our own
words, with the tests that fail when it is broken: \`npm run docs:requirements\` writes it from \`docs/requirements/*.yaml\`, and a test
under \`test/tooling\` fails when a test that is named here is gone, renamed or skipped, and when an id is missing or used twice.

A **decision** is the page that gives the reason where Heddle deliberately does something else. **Open** is a requirement, or a part
of one, that is not built or not tested. Parts of a title that a test fills in are as in the source: \`%s\`, \`$name\`.

| text | subject | rows | with tests | with a decision | open |
| --- | --- | --- | --- | --- | --- |
`

const HEAD = `| id | requirement | held by |
| --- | --- | --- |
`
