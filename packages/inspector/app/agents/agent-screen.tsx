import type { Agent } from '@heddle/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { agentQuery } from '../data/agents.js'
import { counted, timeText, visible } from '../data/text.js'
import { Failure } from '../parts/failure.js'
import { Folded } from '../parts/folded.js'
import { Loading } from '../parts/loading.js'
import { useTitle } from '../shell/title.js'
import { ClearForm } from './clear-form.js'
import { Configuration } from './configuration.js'
import { Items } from './items.js'
import { Snapshots } from './snapshots.js'

const views = { prompt: 'Prompt and docs', settings: 'Settings', items: 'Items', snapshots: 'Snapshots' } as const
export type AgentView = keyof typeof views
export const isAgentView = (text: unknown): text is AgentView => typeof text === 'string' && text in views

export function AgentScreen() {
  const { agent: name } = useParams({ from: '/agents/$agent' })
  const { view = 'prompt', snapshot } = useSearch({ from: '/agents/$agent' })
  const navigate = useNavigate()
  useTitle(`Agent ${name}`)
  const { data: agent, error, isPending } = useQuery(agentQuery(name))
  return (
    <div className="screen">
      <h1>
        <span className="quiet">Agent</span> <bdi>{visible(name)}</bdi>
      </h1>
      {isPending ? <Loading what="the agent" /> : null}
      {error ? <Failure error={error} /> : null}
      {agent === undefined ? null : (
        <>
          <p className="facts">
            <span>version {agent.version}</span>
            <span>since {timeText(agent.createdAt)}</span>
            <span>
              cleared {counted(agent.clearEpoch, 'time')}, last: {timeText(agent.lastClearedAt)}
            </span>
            <Link to="/threads" search={{ agent: name }}>
              Its threads
            </Link>
          </p>
          <nav className="tabs" aria-label="Views of the agent">
            {Object.entries(views).map(([each, title]) => (
              <Link
                key={each}
                to="/agents/$agent"
                params={{ agent: name }}
                search={{ view: each as AgentView }}
                aria-current={each === view ? 'page' : undefined}
              >
                {title}
              </Link>
            ))}
          </nav>
          {view === 'prompt' ? <Prompt agent={agent} /> : null}
          {view === 'settings' ? <Configuration agent={agent} /> : null}
          {view === 'items' ? <Items agent={name} /> : null}
          {view === 'snapshots' ? (
            <Snapshots
              agent={name}
              opened={snapshot}
              onOpen={(id) =>
                void navigate({
                  to: '/agents/$agent',
                  params: { agent: name },
                  search: { view: 'snapshots', ...(id !== undefined && { snapshot: id }) },
                })
              }
            />
          ) : null}
          <ClearForm agent={name} />
        </>
      )}
    </div>
  )
}

function Prompt({ agent: { systemPrompt, docs } }: { agent: Agent }) {
  return (
    <>
      <h2>System prompt</h2>
      {systemPrompt === '' ? <p className="quiet">This agent has no prompt.</p> : null}
      {systemPrompt === '' ? null : <Folded text={systemPrompt} name="the system prompt" />}
      <h2>Docs</h2>
      {docs.length === 0 ? <p className="quiet">This agent has no docs.</p> : null}
      {docs.map(({ name, text }) => (
        <section key={name} className="part" aria-label={name}>
          <h3>
            <bdi>{visible(name)}</bdi> <span className="quiet">{counted(text.length, 'character')}</span>
          </h3>
          <Folded text={text} name={name} />
        </section>
      ))}
    </>
  )
}
