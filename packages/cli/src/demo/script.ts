import { addHeaders } from './script-headers.js'
import { renameConstant } from './script-rename.js'
import { writeReportTool } from './script-tool.js'
import type { DemoSession } from './session.js'

/** Fewer messages than this show no compaction worth looking at. */
export const MESSAGES_MIN = 200

/**
 * The day of a coding agent, as a script over whatever files are there. It decides by what it reads, so the session is that
 * of this code base at this moment; nothing in it is made up.
 */
export async function workThroughTheDay(session: DemoSession): Promise<void> {
  const sources = session.paths.filter((path) => /\.(ts|js|mjs|cjs)$/.test(path) && !path.includes('.test.'))
  await lookAround(session)
  await surveyErrors(session, sources)
  await addHeaders(session, sources)
  await writeReportTool(session)
  await renameConstant(session, sources)
  await answerQuestions(session, sources)
}

async function lookAround(session: DemoSession): Promise<void> {
  session.ask('Please get an overview of this code: what lives where, what is largest, and what should I read first?')
  await session.use(
    'I will look at the layout first.',
    { name: 'LS', input: { path: session.read('.').input['file_path'] ?? '' } },
    session.bash('ls', 'List the top folder'),
    { name: 'Glob', input: { pattern: '**/package.json' } },
  )
  const manifests = session.paths.filter((path) => path.endsWith('package.json')).slice(0, 5)
  await session.use(
    'Each package says in its manifest what it depends on.',
    ...manifests.map((path) => session.read(path)),
  )
  const [sizes] = await session.use(
    'Now the sizes of all files, largest first.',
    session.bash(`node -e ${quoted(SIZES_PROGRAM)}`, 'List the largest files'),
  )
  await session.use(null, session.bash('cat ARCHITECTURE.txt', 'Look for an architecture page'))
  const largest = (sizes?.content ?? '').split('\n').slice(0, 12)
  session.say(
    `The tree has ${session.paths.length} files. The largest are:\n\n${largest.map((line) => `- ${line}`).join('\n')}\n\n` +
      'There is no architecture page, so the manifests above are the best map. I would start with the packages that nothing else depends on and read towards the ones on top.',
  )
}

async function surveyErrors(session: DemoSession, sources: readonly string[]): Promise<void> {
  session.ask('Where are errors made and where could one be swallowed? Look closely at the files that throw the most.')
  const [thrown] = await session.use(
    'I will search for throws, catches and empty handlers together.',
    session.grep('throw ', 'content'),
    session.grep('catch', 'content'),
    session.grep('catch \\{\\s*\\}', 'content'),
  )
  const counts = new Map<string, number>()
  for (const line of (thrown?.content ?? '').split('\n')) {
    const path = line.slice(0, line.indexOf(':'))
    if (sources.includes(path)) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  const busiest = [...counts].sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1)).slice(0, 6)
  for (const [path, count] of busiest) {
    await session.use(
      `${path} throws in ${count} places.`,
      session.read(path),
      session.grep(symbolOf(path), 'files_with_matches'),
    )
  }
  await session.use('One file may have moved; I will try its old place.', session.read('src/errors-old.ts'))
  session.say(
    `I read the ${busiest.length} files that throw most:\n\n${busiest.map(([path, count]) => `- ${path}: ${count} throws`).join('\n')}\n\n` +
      'The search for empty handlers is above; whatever it lists deserves a comment that says why the error may be dropped.',
  )
}

/** Reads on, with questions of the user in between, until the session is long enough. */
async function answerQuestions(session: DemoSession, sources: readonly string[]): Promise<void> {
  const unread = [...sources].reverse()
  let round = 0
  while (unread.length > 0 && (session.messages < MESSAGES_MIN + 40 || round < 6)) {
    const [first, second] = unread.splice(0, 2)
    if (first === undefined) break
    if (round % 5 === 0) session.ask(`How does ${first} work, and who uses it?`)
    const calls = [session.read(first), ...(second === undefined ? [] : [session.read(second)])]
    const [text] = await session.use(`Reading ${[first, second].filter(Boolean).join(' and ')}.`, ...calls)
    await session.use(null, session.grep(symbolOf(first), 'files_with_matches'))
    if (round % 5 === 4) {
      const lines = (text?.content ?? '').split('\n').filter((line) => line.includes('export'))
      session.say(
        `${first} exports this:\n\n${lines.slice(0, 20).join('\n')}\n\nIts users are in the search result above.`,
      )
    }
    round++
  }
  session.ask('Thank you. Sum up what you changed today and what is left to do.')
  session.say(
    'Changed: a header in each file that lacked one, a report script with its checks under scripts/, and one constant renamed everywhere. ' +
      'Left to do: run the whole test suite, and decide about the handlers that drop errors.',
  )
}

/** What the users of a file import it by: its name without folders and extension. */
function symbolOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')
  return name === 'index' ? 'export \\*' : name.replace(/[^A-Za-z0-9-]/g, '.')
}

const SIZES_PROGRAM = [
  'const fs=require("node:fs"),path=require("node:path");',
  'const walk=(d)=>fs.readdirSync(d,{withFileTypes:true}).flatMap((e)=>e.isDirectory()?walk(path.join(d,e.name)):[path.join(d,e.name)]);',
  'const rows=walk(".").map((f)=>[fs.statSync(f).size,f]).sort((a,b)=>b[0]-a[0]||(a[1]<b[1]?-1:1));',
  'for(const [size,file] of rows.slice(0,40))process.stdout.write(size+" bytes  "+file+"\\n")',
].join('')

function quoted(program: string): string {
  return process.platform === 'win32' ? `"${program.replaceAll('"', '\\"')}"` : `'${program}'`
}
