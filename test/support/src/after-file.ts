/** Tasks for the end of a test file. */
type Task = () => Promise<void> | void

const tasks = new Set<Task>()

/**
 * Runs a task at the end of every test file. Files share their modules: a hook at the top of a module would belong only to the
 * file that loads it first.
 */
export function afterEachFile(task: Task): void {
  tasks.add(task)
}

/** For the setup of tests. */
export async function endFile(): Promise<void> {
  await Promise.all([...tasks].map((task) => task()))
}
