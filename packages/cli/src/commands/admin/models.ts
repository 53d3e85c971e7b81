import type { Command } from 'commander'
import { type CommandContext, type CommonOptions, configOf } from '../../connect/context.js'
import { untilStopped } from '../../connect/with-engine.js'
import { withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, itemTable } from '../../output/table.js'

export function registerModels(program: Command, context: CommandContext): void {
  const models = program.command('models').description('manage the embedding models on this machine')
  withCommonOptions(models.command('list').description('list the models on disk and the embedder in use'), [
    'heddle models list',
  ]).action((options: CommonOptions) => listModels(context, options))
  withCommonOptions(
    models
      .command('pull')
      .argument('[model]', 'a name on the Hugging Face hub (default: the configured one)')
      .description('download a model for search by meaning'),
    [
      'heddle models pull',
      'heddle models pull Xenova/bge-small-en-v1.5',
      'HEDDLE_MODELS=/srv/models heddle models pull',
    ],
  )
    .addHelpText(
      'after',
      '\nFiles go to HEDDLE_MODELS, else to TRANSFORMERS_CACHE, else to ~/.cache/transformers. HF_ENDPOINT names a mirror;' +
        '\nHF_HUB_OFFLINE=1 or TRANSFORMERS_OFFLINE=1 forbids downloads.',
    )
    .action((model: string | undefined, options: CommonOptions) => pull(context, model, options))
}

async function listModels(context: CommandContext, options: CommonOptions): Promise<void> {
  const { embedder: settings } = configOf(context, options)
  const { chooseEmbedder, listLocalModels, modelFolders } = await import('@heddle/models')
  const folders = modelFolders(settings.modelsDir, context.env)
  const quiet = { info: () => {}, warn: () => {} }
  const [models, chosen] = await Promise.all([
    listLocalModels(folders),
    chooseEmbedder(settings, { env: context.env, log: quiet }),
  ])
  await chosen.embedder.close()
  const { embedder, reason, fault } = chosen
  const inUse = { model: embedder.model, dimensions: embedder.dimensions, reason, available: fault === null }
  context.printer.result({ items: models, folders, embedder: inUse }, () => [
    ...(models.length === 0
      ? [`no models in ${folders.join(' or ')}`]
      : itemTable(models, [
          { title: 'model', text: ({ model }) => model },
          { title: 'dimensions', right: ({ dimensions }) => String(dimensions) },
          { title: 'weights', text: ({ dtype }) => dtype },
          { title: 'bytes', count: ({ bytes }) => bytes },
          { title: 'folder', text: ({ root }) => root },
        ])),
    '',
    `embedder: ${embedder.model}: ${safeText(reason)}`,
  ])
}

async function pull(context: CommandContext, asked: string | undefined, options: CommonOptions): Promise<void> {
  const { embedder: settings } = configOf(context, options)
  const { checkLocalModel, DEFAULT_MODEL, modelFolders, pullModel } = await import('@heddle/models')
  const model = asked ?? (settings.kind === 'openai' ? null : settings.model) ?? DEFAULT_MODEL
  const [folder = ''] = modelFolders(settings.modelsDir, context.env)
  context.printer.note(`downloading ${safeText(model)} to ${safeText(folder)}`)
  const progress = context.printer.progress('bytes', 0)
  try {
    const pulling = pullModel({
      model,
      folder,
      env: context.env,
      signal: context.signal,
      onProgress: (bytes, total) => progress.update(bytes, total),
    })
    const files = await untilStopped(context.signal, pulling)
    const { dimensions } = await checkLocalModel(model, folder)
    progress.stop()
    context.printer.result({ model, folder, dimensions, files }, () => [
      ...files.map(
        ({ path, bytes, kept }) => `${kept ? 'kept      ' : 'downloaded'}  ${path} (${formatCount(bytes)} bytes)`,
      ),
      `${model} loads and has ${dimensions} dimensions; workers started from now on use it`,
    ])
  } finally {
    progress.stop()
  }
}
