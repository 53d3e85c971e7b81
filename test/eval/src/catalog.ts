import type { Measured } from '@heddle/test-support/figure'
import { awayFigures, measureAdaptersAway } from './adapters/away.js'
import { budgetFigures, measureBudgetsOfSessions, measureGeneratedBudgets } from './budgets/measure.js'
import { measureCache } from './cache/measure.js'
import { calibrationFigures, measureCalibration } from './calibration/measure.js'
import { measureContextStorage } from './context-storage.js'
import { measureContexts } from './contexts/measure.js'
import { measureRebuilt } from './contexts/rebuilt.js'
import { factFigures, measureFacts } from './facts/measure.js'
import { measureGoals } from './goals/measure.js'
import { measureInstructions } from './instructions/measure.js'
import { measureLedger } from './ledger/measure.js'
import { measureLoss } from './loss/measure.js'
import { measurePrecision } from './loss/precision.js'
import { claudeCodeFigures, measureClaudeCodePlugin } from './plugins/claude-code.js'
import { codexFigures, measureCodexPlugin } from './plugins/codex.js'
import { measureOpenCodePlugin, openCodeFigures } from './plugins/opencode.js'
import { measureProperty } from './property.js'
import { measureProxy, proxyModes } from './proxy/measure.js'
import { measureProxyService, serviceNames } from './proxy/measure-service.js'
import { measurePruning } from './pruning.js'
import { conversationKinds } from './search/conversation.js'
import { measureFusedWithEncoder } from './search/fused-with-encoder.js'
import { measureSearch } from './search/measure.js'
import { measureSearchStorage } from './search-storage.js'
import { measureSummaries } from './summary/measure.js'
import { measureSuperseded } from './superseded.js'

/** The parameters of a measurement. */
export interface Given {
  readonly dataDir: string
  readonly histories: number
  /** Measure rankings with one part left out, too. */
  readonly ablation: boolean
}

/** A measurement of one or more figures together. */
export interface Measurement {
  readonly names: readonly string[]
  readonly needsData: boolean
  measure(given: Given): Promise<Measured[]>
}

export const catalog: readonly Measurement[] = [
  {
    names: ['prune.superseded.precision', 'prune.superseded.recall'],
    needsData: true,
    measure: ({ dataDir }) => measureSuperseded(dataDir),
  },
  {
    names: ['prune.recalled', 'prune.storage', 'prune.orphans', 'prune.tokens'],
    needsData: true,
    measure: ({ dataDir }) => measurePruning(dataDir),
  },
  {
    names: [
      'summary.kept',
      'summary.reused',
      'summary.nameLines',
      'summary.rouge1',
      'summary.rouge2',
      'summary.rougeL',
    ],
    needsData: true,
    measure: ({ dataDir }) => measureSummaries(dataDir),
  },
  {
    names: ['summary.goal', 'summary.requests', 'summary.injected.precision', 'summary.injected.recall'],
    needsData: true,
    measure: ({ dataDir }) => measureGoals(dataDir),
  },
  {
    names: ['kept', 'recoverable', 'lost', 'real', 'gate', 'probe'].map((part) => `loss.${part}`),
    needsData: true,
    measure: ({ dataDir }) => measureLoss(dataDir),
  },
  {
    names: ['ledger.session', 'ledger.equal', 'ledger.generated'],
    needsData: true,
    measure: ({ dataDir }) => measureLedger(dataDir),
  },
  {
    names: ['loss.precision'],
    needsData: true,
    measure: ({ dataDir }) => measurePrecision(dataDir),
  },
  {
    names: ['instructions.precision', 'instructions.recall'],
    needsData: true,
    measure: ({ dataDir }) => measureInstructions(dataDir),
  },
  {
    names: factFigures,
    needsData: true,
    measure: ({ dataDir }) => measureFacts(dataDir),
  },
  ...conversationKinds.map((kind) => ({
    names: ['words', 'vectors', 'fused'].map((leg) => `${kind}.${leg}`),
    needsData: true,
    measure: ({ dataDir, ablation }: Given) => measureSearch(dataDir, { kind, ablation }),
  })),
  {
    names: ['locomo.encoder', 'beam.encoder'],
    needsData: true,
    measure: ({ dataDir }) => measureFusedWithEncoder(dataDir),
  },
  {
    names: ['32k', '64k'].flatMap((size) => ['prefix', 'cost', 'reused'].map((part) => `cache.${part}.${size}`)),
    needsData: true,
    measure: ({ dataDir }) => measureCache(dataDir),
  },
  {
    names: ['proxy.invalid', 'proxy.prefix.broken', ...proxyModes.map((mode) => `proxy.cost.${mode}`)],
    needsData: true,
    measure: ({ dataDir }) => measureProxy(dataDir),
  },
  {
    names: calibrationFigures,
    needsData: true,
    measure: ({ dataDir }) => measureCalibration(dataDir),
  },
  {
    names: serviceNames(),
    needsData: true,
    measure: ({ dataDir }) => measureProxyService(dataDir),
  },
  {
    names: claudeCodeFigures,
    needsData: true,
    measure: ({ dataDir }) => measureClaudeCodePlugin(dataDir),
  },
  {
    names: codexFigures,
    needsData: true,
    measure: ({ dataDir }) => measureCodexPlugin(dataDir),
  },
  {
    names: openCodeFigures,
    needsData: true,
    measure: ({ dataDir }) => measureOpenCodePlugin(dataDir),
  },
  {
    names: awayFigures,
    needsData: false,
    measure: measureAdaptersAway,
  },
  {
    names: ['search.storage'],
    needsData: true,
    measure: ({ dataDir }) => measureSearchStorage(dataDir),
  },
  {
    names: ['built', 'refused', 'broken', 'orphans', 'overBudget', 'unaccounted', 'wronglyRefused', 'wrongNeeds'].map(
      (part) => `contexts.${part}`,
    ),
    needsData: true,
    measure: ({ dataDir }) => measureContexts(dataDir),
  },
  {
    names: budgetFigures.map((part) => `budgets.sessions.${part}`),
    needsData: true,
    measure: ({ dataDir }) => measureBudgetsOfSessions(dataDir),
  },
  {
    names: budgetFigures.map((part) => `budgets.generated.${part}`),
    needsData: false,
    measure: ({ histories }) => measureGeneratedBudgets(histories),
  },
  {
    names: ['contexts.storage'],
    needsData: true,
    measure: ({ dataDir }) => measureContextStorage(dataDir),
  },
  {
    names: ['contexts.rebuilt', 'contexts.rebuilt.at', 'contexts.rebuilt.diff'],
    needsData: true,
    measure: ({ dataDir }) => measureRebuilt(dataDir),
  },
  {
    names: ['prune.property'],
    needsData: false,
    measure: ({ histories }) => measureProperty(histories),
  },
]
