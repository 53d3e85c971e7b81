import type { DemoSession } from './session.js'

const FILES = 16

/** The agent gives each of some files a header that lists its exports, checks some, and stumbles now and then. */
export async function addHeaders(session: DemoSession, sources: readonly string[]): Promise<void> {
  session.ask(
    'Add a short header comment to the files that have none, saying what they export. Check your edits as you go.',
  )
  const every = Math.max(1, Math.floor(sources.length / FILES))
  const chosen = sources.filter((_, index) => index % every === 0).slice(0, FILES)
  const done: string[] = []

  for (const [index, path] of chosen.entries()) {
    const [view] = await session.use(`${path} next.`, session.read(path))
    const text = plainText(view?.content ?? '')
    const first = firstUniqueLine(text)
    if (first === null) continue
    const names = exportedNames(text)
    const header = `// Exports: ${names.length === 0 ? 'nothing by name' : names.join(', ')}.`

    if (index % 4 === 1) {
      // From memory, without looking: the quotes are wrong, and the tool says so.
      await session.use('I remember its first line.', session.edit(path, `${first.replaceAll("'", '"')} // v1`, header))
      await session.use('That line is not there; I will look again.', session.read(path, { offset: 1, limit: 20 }))
    }
    await session.use(null, session.edit(path, first, `${header}\n${first}`))
    if (index % 3 === 0) {
      await session.use(
        'Checking the result.',
        session.read(path),
        session.bash(`head -n 3 "${path}"`, 'Show the new header'),
      )
    }
    done.push(`- ${path}: ${names.length} names${names.length === 0 ? '' : ` (${names.slice(0, 8).join(', ')})`}`)
  }

  await session.use('Are there headers in all of them now?', session.grep('^// Exports: ', 'content'))
  session.say(
    `Done: ${done.length} files have a header now.\n\n${done.join('\n')}\n\nFiles that export nothing by name say so, which may mean that they are entry points or that they re-export everything of others. ` +
      'Four edits failed at first because I had the line wrong; each was repeated after another look at the file.',
  )
}

/** A file as the Read tool showed it, without its line numbers. */
export function plainText(shown: string): string {
  return shown
    .split('\n')
    .map((line) => line.slice(line.indexOf('→') + 1))
    .join('\n')
}

/** The first line that an edit can name: not blank, and nowhere else in the text. */
function firstUniqueLine(text: string): string | null {
  const isAnchor = (line: string) => line.trim().length > 8 && !line.startsWith('#!') && text.split(line).length === 2
  return text.split('\n').find(isAnchor) ?? null
}

function exportedNames(text: string): string[] {
  const declarations = text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) ([A-Za-z0-9_]+)/gm)
  return [...declarations].map((match) => match[1] ?? '')
}
