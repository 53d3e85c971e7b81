import { type Requirement, type RequirementText, rowsOf, splitTest } from './read.js'
import { titlesNamed, titlesOf } from './titles.js'

/** The content of a file of the repository; undefined if there is no such file. */
export type Read = (path: string) => string | undefined

/** The problems of the tables: ids that are missing or used twice, rows without a test, and tests and pages that do not exist. */
export function problemsOf(texts: readonly RequirementText[], read: Read): readonly string[] {
  const titles = new Map<string, readonly string[] | undefined>()
  const titlesIn = (path: string): readonly string[] | undefined => {
    if (!titles.has(path)) {
      const content = /\.test\.ts$/.test(path) ? read(path) : undefined
      titles.set(path, content === undefined ? undefined : titlesOf(content))
    }
    return titles.get(path)
  }
  return texts.flatMap((text) => [
    ...idProblems(text),
    ...rowsOf(text).flatMap((row) => [...rowProblems(row, read), ...testProblems(row, titlesIn)]),
  ])
}

/** The ids of a text count from 1 to its last number, in order. */
function idProblems(text: RequirementText): readonly string[] {
  const ids = rowsOf(text).map(({ id }) => id)
  const expected = Array.from({ length: text.last }, (_, index) => `${text.number}-${index + 1}`)
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
  const known = new Set(expected)
  return [
    ...expected.filter((id) => !ids.includes(id)).map((id) => `${text.path}: ${id} is missing`),
    ...twice.map((id) => `${text.path}: ${id} is used twice`),
    ...ids
      .filter((id) => !known.has(id))
      .map((id) => `${text.path}: ${id} is not between ${text.number}-1 and ${text.number}-${text.last}`),
  ]
}

function rowProblems({ id, tests, decision, open }: Requirement, read: Read): readonly string[] {
  const page = decision?.replace(/#.*/, '')
  return [
    ...(tests === undefined && decision === undefined && open === undefined
      ? [`${id} has no test, no decision and no reason why it is open`]
      : []),
    ...(page !== undefined && read(page) === undefined ? [`${id}: there is no page ${page}`] : []),
  ]
}

function testProblems(
  { id, tests = [] }: Requirement,
  titlesIn: (path: string) => readonly string[] | undefined,
): readonly string[] {
  return tests.flatMap((test) => {
    const { path, title } = splitTest(test)
    const titles = titlesIn(path)
    if (titles === undefined) return [`${id}: there is no test file ${path}`]
    const found = titlesNamed(titles, title)
    if (found.length === 0) return [`${id}: ${path} has no test that is called "${title}" and runs`]
    return found.length === 1 ? [] : [`${id}: ${path} has ${found.length} tests that are called "${title}"`]
  })
}
