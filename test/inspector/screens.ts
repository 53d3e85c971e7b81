import type { Page } from 'playwright-core'

interface Shown {
  readonly url: string
  readonly thread: string
}

export interface Screen {
  readonly name: string
  /** Opens it, and waits until it shows data. */
  show(page: Page, shown: Shown): Promise<void>
}

const at = ({ url, thread }: Shown, path: string) => `${url}/ui/#/threads/${encodeURIComponent(thread)}${path}`

/** The screens with data, as a reader reaches them. */
export const screens: readonly Screen[] = [
  {
    name: 'threads',
    async show(page, { url, thread }) {
      await page.goto(`${url}/ui/#/threads`)
      await page.getByRole('link', { name: thread }).waitFor()
    },
  },
  {
    name: 'timeline',
    async show(page, shown) {
      await page.goto(at(shown, ''))
      await page.getByRole('heading', { name: 'assistant' }).first().waitFor()
      await page.getByRole('heading', { name: shown.thread, level: 1 }).waitFor()
      await page.getByRole('slider', { name: 'Moment' }).waitFor()
    },
  },
  {
    name: 'contexts',
    async show(page, shown) {
      await page.goto(at(shown, '/contexts'))
      await page.getByRole('cell', { name: 'built' }).first().waitFor()
    },
  },
  {
    name: 'context',
    async show(page, shown) {
      await page.goto(at(shown, '/contexts'))
      await page.getByRole('region', { name: 'Contexts, newest first' }).getByRole('link').first().click()
      await page.getByRole('heading', { name: 'Message 1', exact: false }).first().waitFor()
      await page.getByText(/are those of the context before/).waitFor()
    },
  },
  {
    name: 'left-out',
    async show(page, shown) {
      await screens.find(({ name }) => name === 'context')?.show(page, shown)
      await page.getByRole('link', { name: /not shown$/ }).click()
      await page.getByRole('region', { name: 'Not shown' }).waitFor()
    },
  },
  {
    name: 'difference',
    async show(page, shown) {
      await screens.find(({ name }) => name === 'context')?.show(page, shown)
      await page.getByRole('link', { name: 'Difference to the context before' }).click()
      await page.getByRole('region', { name: 'Tokens of both' }).waitFor()
      await page.getByText('delivered pieces').waitFor()
    },
  },
  {
    name: 'find',
    async show(page, shown) {
      await screens.find(({ name }) => name === 'context')?.show(page, shown)
      await page.getByRole('link', { name: 'Did it see this?' }).click()
      await page.getByLabel('Words of a statement').fill('rules of pruning')
      await page.getByRole('button', { name: 'Find', exact: true }).click()
      await page.getByRole('list', { name: 'Messages of the thread' }).getByRole('article').first().waitFor()
    },
  },
  {
    name: 'did-it-see',
    async show(page, shown) {
      await page.goto(at(shown, '/find?query=rules%20of%20pruning'))
      await page.getByText('messages with these words').waitFor()
      await page.getByRole('list', { name: 'Messages of the thread' }).getByRole('article').first().waitFor()
    },
  },
  {
    name: 'lost',
    async show(page, shown) {
      await page.goto(at(shown, '/compactions'))
      await page.getByRole('button', { name: /^Show what .* lost$/ }).click()
      await page.getByRole('region', { name: 'Lost details' }).scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'tokens',
    async show(page, shown) {
      await page.goto(at(shown, '/tools'))
      await page.getByRole('rowheader', { name: 'Read' }).waitFor()
      await page.getByText('takes the most of').waitFor()
      await page.getByText('In the newest context:').first().waitFor()
    },
  },
  {
    name: 'requests',
    async show(page, shown) {
      await page.goto(at(shown, '/requests'))
      await page.getByRole('region', { name: 'Requests, newest first' }).getByRole('link').first().waitFor()
    },
  },
  {
    name: 'request',
    async show(page, shown) {
      await page.goto(at(shown, '/requests'))
      await page.getByRole('region', { name: 'Requests, newest first' }).getByRole('link').first().click()
      await page.getByRole('list', { name: 'Entries as received and as sent' }).getByRole('article').first().waitFor()
    },
  },
  {
    name: 'proxy',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/proxy`)
      await page.getByRole('rowheader', { name: 'compact', exact: true }).first().waitFor()
    },
  },
  {
    name: 'agents',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/agents`)
      await page.getByRole('link', { name: 'coder' }).waitFor()
    },
  },
  {
    name: 'agent-settings',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/agents/coder?view=settings`)
      await page.getByRole('rowheader', { name: 'budget', exact: true }).waitFor()
    },
  },
  {
    name: 'agent-items',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/agents/coder?view=items`)
      await page.getByText('Figures over').waitFor()
    },
  },
  {
    name: 'agent-snapshots',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/agents/coder?view=snapshots`)
      await page
        .getByText(/^No window of this agent was saved|messages of/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'pipeline',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/pipeline`)
      await page.getByRole('button', { name: 'Pause embed' }).waitFor()
      await page.getByRole('img', { name: /^waiting jobs of embed since/ }).waitFor()
      await page.getByText('every stage is served').waitFor()
    },
  },
  {
    name: 'request-context',
    async show(page, shown) {
      await page.goto(at(shown, ''))
      await page.getByRole('button', { name: 'View Context' }).first().click()
      await page.getByRole('dialog').getByText('How to use error-handling here').first().waitFor()
    },
  },
  {
    name: 'compactions',
    async show(page, shown) {
      await page.goto(at(shown, '/compactions'))
      await page
        .getByRole('button', { name: /^Whole summary/ })
        .first()
        .waitFor()
      await page
        .getByRole('button', { name: /^Summary of/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'search',
    async show(page, { url }) {
      await page.goto(`${url}/ui/#/search?query=calibration%20of%20pruning`)
      await page.getByRole('list', { name: 'Messages found' }).getByRole('article').first().waitFor()
      await page.getByText('Explanation of its place').first().click()
    },
  },
  {
    name: 'archive',
    async show(page, { url, thread }) {
      await page.goto(`${url}/ui/#/search?place=archive&thread=${encodeURIComponent(thread)}`)
      await page.getByRole('list', { name: 'Archived contents' }).getByRole('article').first().waitFor()
    },
  },
  {
    name: 'result',
    async show(page, shown) {
      await screens.find(({ name }) => name === 'search')?.show(page, shown)
      await page.getByRole('article').getByRole('link').first().click()
      await page
        .getByRole('region', { name: /^Lines of/ })
        .locator('mark')
        .first()
        .waitFor()
    },
  },
  {
    name: 'what-if',
    async show(page, shown) {
      await screens.find(({ name }) => name === 'context')?.show(page, shown)
      await page.getByRole('link', { name: 'What if' }).click()
      await page.getByLabel('Budget in tokens').fill('6000')
      await page.getByLabel('Strategy').selectOption('sliding-window')
      await page.getByRole('button', { name: 'Build without storing' }).click()
      await page.getByRole('region', { name: 'Preview', exact: true }).getByText('of 6,000 tokens').waitFor()
    },
  },
]
